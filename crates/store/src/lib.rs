//! Every event kept once, asked in SQL: Delta tables of sorted Parquet in a directory or at an object-store URL.
#![forbid(unsafe_code)]
