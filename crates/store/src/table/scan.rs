//! A table as queries see it: the files of one version of it that a filter can not rule out, and the rows that are not
//! in a file yet.
//!
//! Files are ruled out by the bounds in the table's log, row groups and pages by those in the files. The files' feet are
//! kept in memory, as long as the session's cache has room.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::pruning::PrunableStatistics;
use datafusion::common::stats::{Precision, Statistics};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::config::TableParquetOptions;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::union::UnionExec;
use deltalake::ObjectMeta;

use super::part::Part;
use crate::place::Place;
use crate::schema::Table;

/// One version of a table, with the rows that are not in a file yet.
#[derive(Debug, Clone)]
pub struct Scan {
    pub(crate) table: &'static Table,
    pub(crate) place: Arc<Place>,
    pub(crate) version: u64,
    pub(crate) parts: Arc<Vec<Arc<Part>>>,
    pub(crate) hot: Vec<RecordBatch>,
}

impl Scan {
    /// The version of the table's log.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Files, and rows that are in none yet.
    #[must_use]
    pub fn extent(&self) -> (usize, usize) {
        (self.parts.len(), self.hot.iter().map(RecordBatch::num_rows).sum())
    }

    /// The files that a filter can not rule out.
    fn candidates(&self, filter: Option<&Arc<dyn PhysicalExpr>>) -> Vec<&Arc<Part>> {
        let all = || self.parts.iter().collect();
        let Some(filter) = filter else { return all() };
        let predicate = PruningPredicateBuilder::new().with_file_schema(self.table.asked());
        let Some(predicate) = predicate.build(Arc::clone(filter)) else { return all() };
        let statistics = self.parts.iter().map(|part| Arc::clone(&part.statistics)).collect();
        let statistics = PrunableStatistics::new(statistics, self.table.asked());
        match predicate.prune(&statistics) {
            Ok(keep) => self
                .parts
                .iter()
                .zip(keep)
                .filter(|(_, keep)| *keep)
                .map(|(part, _)| part)
                .collect(),
            Err(_) => all(),
        }
    }

    fn file(&self, part: &Part) -> PartitionedFile {
        let location = self.place.table(self.table.name);
        let location = part.path.split('/').fold(location, |path, name| path.join(name));
        let seconds = part.written.div_euclid(1000);
        let meta = ObjectMeta {
            location,
            // The cache knows a file by its name, its length and this.
            last_modified: chrono::DateTime::from_timestamp(seconds, 0).unwrap_or_default(),
            size: part.bytes,
            e_tag: None,
            version: None,
        };
        PartitionedFile::new_from_meta(meta)
            .with_partition_values(vec![ScalarValue::Date32(part.day)])
    }

    /// Files in as many groups as there are cores, about equal in length.
    fn groups(&self, parts: &[&Arc<Part>], count: usize) -> Vec<FileGroup> {
        let count = count.clamp(1, parts.len().max(1));
        let mut groups: Vec<(u64, Vec<PartitionedFile>)> = vec![(0, Vec::new()); count];
        for part in parts {
            if let Some(smallest) = groups.iter_mut().min_by_key(|group| group.0) {
                smallest.0 += part.bytes;
                smallest.1.push(self.file(part));
            }
        }
        groups.into_iter().map(|(_, files)| FileGroup::new(files)).collect()
    }

    fn files(
        &self,
        state: &dyn Session,
        parts: &[&Arc<Part>],
        projection: Option<&Vec<usize>>,
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let runtime = state.runtime_env();
        let url = self.place.storage_url();
        runtime.register_object_store(&url, Arc::clone(self.place.storage()));
        let mut fields = self.table.asked().fields().to_vec();
        let day = fields.pop().into_iter().collect::<Vec<_>>();
        let own = datafusion::arrow::datatypes::Schema::new(fields);
        let schema = TableSchema::builder(Arc::new(own)).with_table_partition_cols(day).build();
        let cache = runtime.cache_manager.get_file_metadata_cache();
        let reader = CachedParquetFileReaderFactory::new(Arc::clone(self.place.storage()), cache);
        let mut options = TableParquetOptions::default();
        options.global = state.config().options().execution.parquet.clone();
        options.global.pushdown_filters = true;
        // The filter is not given to it here: the optimiser moves it down from above, and each of its parts that the
        // source had already would be looked at twice, with the column decoded anew.
        let source = ParquetSource::new(schema)
            .with_table_parquet_options(options)
            .with_enable_page_index(true)
            .with_parquet_file_reader_factory(Arc::new(reader));
        let rows: Option<u64> = parts.iter().map(|part| part.rows).sum();
        let rows = rows.and_then(|rows| usize::try_from(rows).ok());
        let mut statistics = Statistics::new_unknown(&self.table.asked());
        statistics.num_rows = rows.map_or(Precision::Absent, Precision::Exact);
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::parse(url)?, Arc::new(source))
            .with_file_groups(self.groups(parts, state.config().target_partitions()))
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}

#[async_trait]
impl TableProvider for Scan {
    fn schema(&self) -> SchemaRef {
        self.table.asked()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let filter = match conjunction(filters.iter().cloned()) {
            Some(filter) => {
                let schema = DFSchema::try_from(self.table.asked())?;
                Some(state.create_physical_expr(filter, &schema)?)
            }
            None => None,
        };
        let parts = self.candidates(filter.as_ref());
        let mut plans: Vec<Arc<dyn ExecutionPlan>> = Vec::new();
        if !parts.is_empty() {
            plans.push(self.files(state, &parts, projection, limit)?);
        }
        if !self.hot.is_empty() {
            let hot = [self.hot.clone()];
            plans.push(MemorySourceConfig::try_new_exec(
                &hot,
                self.table.asked(),
                projection.cloned(),
            )?);
        }
        if plans.is_empty() {
            let schema =
                datafusion::physical_plan::project_schema(&self.table.asked(), projection)?;
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        UnionExec::try_new(plans)
    }
}
