//! What clients look into before they ask: `pg_catalog`, the version and the settings.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, Int32Array, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{
    ColumnarValue, ScalarUDF, Signature, SimpleScalarUDF, TypeSignature, Volatility,
};
use datafusion::scalar::ScalarValue;
use datafusion_postgres::datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_postgres::datafusion_pg_catalog::pg_catalog::setup_pg_catalog;
use netra_store::ask::{CATALOG, Session};

use super::setting::Values;
use super::version;

/// Puts all of it into a session.
pub(super) fn furnish(session: &Session, values: &Values) -> Result<()> {
    let context = session.context();
    setup_pg_catalog(context, CATALOG, EmptyContextProvider).map_err(|error| *error)?;
    // Clients refuse to go on with a server that calls itself something else.
    context.register_udf(constant("version", version()));
    context.register_udf(current_setting(values.clone()));
    context.register_udf(to_regtype());
    Ok(())
}

/// A function without arguments.
fn constant(name: &str, value: String) -> ScalarUDF {
    let nothing = Signature::nullary(Volatility::Immutable);
    let work = Arc::new(move |_: &[ColumnarValue]| {
        Ok(ColumnarValue::Scalar(ScalarValue::Utf8(Some(value.clone()))))
    });
    SimpleScalarUDF::new_with_signature(name, nothing, DataType::Utf8, work).into()
}

/// The types that our columns have on the wire, with PostgreSQL's numbers for them.
const TYPES: &[(&str, i32)] = &[
    ("bool", 16),
    ("bytea", 17),
    ("int8", 20),
    ("int2", 21),
    ("int4", 23),
    ("text", 25),
    ("float4", 700),
    ("float8", 701),
    ("varchar", 1043),
    ("date", 1082),
    ("timestamp", 1114),
    ("timestamptz", 1184),
    ("interval", 1186),
    ("numeric", 1700),
];

/// `to_regtype(name)`: the number of a type; NULL for those that are not here, which is how clients find out.
fn to_regtype() -> ScalarUDF {
    let signature = Signature::exact(vec![DataType::Utf8], Volatility::Immutable);
    let work = Arc::new(|args: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(args)?;
        let names = cast(&arrays[0], &DataType::Utf8)?;
        let number = |name: &str| TYPES.iter().find(|known| known.0 == name).map(|known| known.1);
        let found: Int32Array =
            names.as_string::<i32>().iter().map(|name| name.and_then(number)).collect();
        Ok(ColumnarValue::Array(Arc::new(found) as ArrayRef))
    });
    SimpleScalarUDF::new_with_signature("to_regtype", signature, DataType::Int32, work).into()
}

/// `current_setting(name [, whether it may be missing])`.
fn current_setting(values: Values) -> ScalarUDF {
    let one = TypeSignature::Exact(vec![DataType::Utf8]);
    let two = TypeSignature::Exact(vec![DataType::Utf8, DataType::Boolean]);
    // Settings change while a statement is prepared, so nothing may be computed ahead.
    let signature = Signature::one_of(vec![one, two], Volatility::Volatile);
    let work = Arc::new(move |args: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(args)?;
        let names = cast(&arrays[0], &DataType::Utf8)?;
        let missing_is_fine =
            arrays.get(1).is_some_and(|flag| !flag.is_empty() && flag.as_boolean().value(0));
        let found: Result<StringArray> = names
            .as_string::<i32>()
            .iter()
            .map(|name| {
                let value = name.and_then(|name| values.get(name));
                match (name, &value) {
                    (Some(name), None) if !missing_is_fine => Err(DataFusionError::Execution(
                        format!("unrecognized configuration parameter \"{name}\""),
                    )),
                    _ => Ok(value),
                }
            })
            .collect();
        Ok(ColumnarValue::Array(Arc::new(found?) as ArrayRef))
    });
    SimpleScalarUDF::new_with_signature("current_setting", signature, DataType::Utf8, work).into()
}
