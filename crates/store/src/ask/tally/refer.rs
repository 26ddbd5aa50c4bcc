//! Texts as references. A file lists the values of a column that has few, and its rows refer to them. Where rows are only grouped by
//! such a column, the references are all it takes: a text for each row is neither made nor compared.
//!
//! Whether every page of a column is made of references stands in the files' feet, which are read when the question runs (they are
//! in memory, if they were read before). Where one page is not, all texts come as the engine reads them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfig, FileScanConfigBuilder, FileSource as _, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};
use deltalake::parquet::arrow::parquet_to_arrow_schema;
use deltalake::parquet::basic::Encoding;
use deltalake::parquet::file::metadata::ParquetMetaData;
use futures::{StreamExt as _, TryStreamExt as _};
use tokio::sync::OnceCell;

/// Feet that are read at a time.
const AT_ONCE: usize = 8;

/// Files whose texts come as references where they can. For the plan the columns stay what they were: whoever stands above takes
/// both.
#[derive(Debug)]
pub(super) struct Referring {
    plain: Arc<dyn ExecutionPlan>,
    /// Those of the files' columns whose texts may come as references.
    columns: BTreeSet<usize>,
    /// How the files are read: one plan for all parts, which take files from each other.
    chosen: Arc<OnceCell<Arc<dyn ExecutionPlan>>>,
}

impl Referring {
    /// What stands for the files that a step reads, if it groups by texts of theirs and does nothing else with them.
    pub(super) fn below(step: &AggregateExec) -> Option<Arc<dyn ExecutionPlan>> {
        let (_, source) = files(step.input())?;
        let given: Vec<_> = source.projection()?.iter().map(|given| &given.expr).collect();
        let column_of = |at: usize| given.get(at)?.downcast_ref::<Column>().map(Column::index);
        let keys = step.group_expr().input_exprs();
        let (keys, others): (Vec<_>, Vec<_>) = keys.into_iter().partition(|key| key.is::<Column>());
        let arguments = step.aggr_expr().iter().flat_map(|function| function.expressions());
        // What something looks into: what functions and other keys use, what is made of columns, and filters.
        let mut looked_into: BTreeSet<usize> = others
            .into_iter()
            .chain(arguments)
            .flat_map(|one| used(&one))
            .filter_map(column_of)
            .collect();
        looked_into
            .extend(given.iter().filter(|one| !one.is::<Column>()).flat_map(|one| used(one)));
        looked_into.extend(source.filter().iter().flat_map(used));
        let fields = source.table_schema().file_schema().fields();
        let is_text = |at: &usize| {
            fields.get(*at).is_some_and(|field| *field.data_type() == DataType::Utf8View)
        };
        let columns: BTreeSet<usize> = { keys.iter() }
            .flat_map(used)
            .filter_map(column_of)
            .filter(|at| is_text(at) && !looked_into.contains(at))
            .collect();
        (!columns.is_empty()).then(|| Referring::new(Arc::clone(step.input()), columns) as _)
    }

    fn new(plain: Arc<dyn ExecutionPlan>, columns: BTreeSet<usize>) -> Arc<Referring> {
        Arc::new(Referring { plain, columns, chosen: Arc::default() })
    }

    /// The same files with references, if these columns have nothing else in all of them.
    async fn referring(
        plain: &Arc<dyn ExecutionPlan>,
        columns: &BTreeSet<usize>,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some((config, source)) = files(plain) else { return Ok(None) };
        let (Some(reader), Some(projection)) =
            (source.parquet_file_reader_factory(), source.projection())
        else {
            return Ok(None);
        };
        let table = source.table_schema();
        let names: Vec<&str> =
            columns.iter().map(|&at| table.file_schema().field(at).name().as_str()).collect();
        let mut groups = Vec::with_capacity(config.file_groups.len());
        for group in &config.file_groups {
            let mut feet = futures::stream::iter(group.iter().cloned())
                .map(|file| with_foot(reader, file))
                .buffered(AT_ONCE);
            let mut files = Vec::with_capacity(group.len());
            while let Some((file, foot)) = feet.try_next().await? {
                let Some(schema) = schema_of(&foot, &names)? else { return Ok(None) };
                files.push(file.with_arrow_schema(schema));
            }
            groups.push(FileGroup::new(files));
        }
        let fields = table.file_schema().fields().iter().enumerate();
        let fields: Vec<Field> = fields
            .map(|(at, field)| match columns.contains(&at) {
                true => as_references(field),
                false => field.as_ref().clone(),
            })
            .collect();
        let schema = TableSchema::builder(Arc::new(Schema::new(fields)))
            .with_table_partition_cols(table.table_partition_cols().clone())
            .build();
        let mut other = ParquetSource::new(schema)
            .with_table_parquet_options(source.table_parquet_options().clone())
            .with_parquet_file_reader_factory(Arc::clone(reader));
        if let Some(filter) = source.filter() {
            other = other.with_predicate(filter);
        }
        let Some(other) = other.try_pushdown_projection(projection)? else { return Ok(None) };
        let config = FileScanConfigBuilder::from(config.clone())
            .with_source(other)
            .with_file_groups(groups)
            .build();
        Ok(Some(DataSourceExec::from_data_source(config)))
    }
}

impl DisplayAs for Referring {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = files(&self.plain).map(|(_, source)| source.table_schema().file_schema());
        let name = |at: &usize| Some(fields?.fields().get(*at)?.name().as_str());
        let names: Vec<&str> = self.columns.iter().filter_map(name).collect();
        write!(f, "Referring: {}", names.join(", "))
    }
}

impl ExecutionPlan for Referring {
    fn name(&self) -> &'static str {
        "Referring"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.plain.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.plain]
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.pop()) {
            (Some(plain), None) => Ok(Referring::new(plain, self.columns.clone())),
            _ => internal_err!("references need one source"),
        }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        use datafusion::physical_plan::ChildrenPropertiesMode::Recompute;
        self.replace_children(children, ReplaceChildrenOptions::new(Recompute))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let schema = self.plain.schema();
        let (plain, columns) = (Arc::clone(&self.plain), self.columns.clone());
        let chosen = Arc::clone(&self.chosen);
        let rows = futures::stream::once(async move {
            let choose = async || {
                let referring = Referring::referring(&plain, &columns).await?;
                Ok::<_, DataFusionError>(referring.unwrap_or(Arc::clone(&plain)))
            };
            chosen.get_or_try_init(choose).await?.execute(partition, context)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows.try_flatten())))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        // The other plan's, if it is another one.
        self.chosen.get().filter(|chosen| !Arc::ptr_eq(chosen, &self.plain))?.metrics()
    }
}

/// The Parquet files that a plan reads, if it does nothing else.
fn files(plan: &Arc<dyn ExecutionPlan>) -> Option<(&FileScanConfig, &ParquetSource)> {
    plan.downcast_ref::<DataSourceExec>()?.downcast_to_file_source::<ParquetSource>()
}

/// The columns in an expression.
fn used(expression: &Arc<dyn PhysicalExpr>) -> impl Iterator<Item = usize> + use<> {
    collect_columns(expression).into_iter().map(|column| column.index())
}

async fn with_foot(
    reader: &Arc<dyn ParquetFileReaderFactory>,
    file: PartitionedFile,
) -> Result<(PartitionedFile, Arc<ParquetMetaData>)> {
    let metrics = ExecutionPlanMetricsSet::new();
    let mut reader = reader.create_reader(0, file.clone(), file.metadata_size_hint, &metrics)?;
    let foot = reader.get_metadata(None).await?;
    Ok((file, foot))
}

/// A file's own columns, the named ones as references; nothing where a page has plain texts.
fn schema_of(foot: &ParquetMetaData, names: &[&str]) -> Result<Option<SchemaRef>> {
    let description = foot.file_metadata().schema_descr();
    let own = parquet_to_arrow_schema(description, None)?;
    let mut fields: Vec<Field> = own.fields().iter().map(|field| field.as_ref().clone()).collect();
    for name in names {
        let field = fields.iter_mut().find(|field| field.name() == name);
        let leaf = description.columns().iter().position(|leaf| leaf.path().parts() == [*name]);
        let (Some(field), Some(leaf)) = (field, leaf) else { return Ok(None) };
        let all_refer = foot.row_groups().iter().all(|group| {
            let pages = group.column(leaf).page_encoding_stats_mask();
            pages.is_some_and(|pages| pages.is_only(Encoding::RLE_DICTIONARY))
        });
        if *field.data_type() != DataType::Utf8 || !all_refer {
            return Ok(None);
        }
        *field = as_references(field);
    }
    Ok(Some(Arc::new(Schema::new(fields))))
}

fn as_references(field: &Field) -> Field {
    let listed = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    field.clone().with_data_type(listed)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use datafusion::arrow::compute::cast;
    use datafusion::arrow::record_batch::RecordBatch;
    use datafusion::arrow::util::pretty::pretty_format_batches;
    use datafusion::datasource::MemTable;
    use datafusion::execution::SessionStateBuilder;
    use datafusion::prelude::SessionContext;
    use deltalake::kernel::Add;
    use deltalake::parquet::arrow::ArrowWriter;
    use deltalake::parquet::file::properties::WriterProperties;

    use super::super::Tallying;
    use super::*;
    use crate::schema::table;
    use crate::table::{Part, Scan, asked, encode, made_up};
    use crate::{Place, Store};

    /// What is asked, and whether texts come as references where files have nothing else.
    const QUESTIONS: [(&str, bool); 10] = [
        ("select op, count(*), sum(bytes), max(duration) from events group by op", true),
        ("select layer, op, count(*) from events where t_ns > 2 group by layer, op", true),
        ("select error, rank, min(t) from events group by error, rank", true),
        ("select op as what, job, error, sum(length) from events group by 1, 2, 3", true),
        ("select data_set, count(*) from events where op <> 'a' group by data_set", true),
        ("select day, function, count(rank) from events group by day, function", true),
        ("select distinct exe from events", true),
        ("select op, count(error) from events where op > 'a' group by op", false),
        ("select error, count(error) from events group by error", false),
        ("select op || '.', count(*) from events group by 1", false),
    ];

    /// The column that older files lack.
    const LATER: &str = "selection";

    /// How a file is written.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Way {
        /// As those of the store.
        Ours,
        /// Every text in its row.
        Plain,
        /// References until their list is full, then texts.
        Full,
        /// Before there was one of the columns.
        Older,
    }

    fn bytes(batch: &RecordBatch, way: Way) -> Vec<u8> {
        let events = table("events").unwrap();
        let properties = match way {
            Way::Ours | Way::Older => WriterProperties::builder(),
            Way::Plain => WriterProperties::builder().set_dictionary_enabled(false),
            Way::Full => WriterProperties::builder()
                .set_dictionary_page_size_limit(8)
                .set_data_page_row_count_limit(20)
                .set_write_batch_size(10),
        };
        let mut keep: Vec<usize> = (0..batch.num_columns()).collect();
        match way {
            Way::Ours => return encode(events, batch).unwrap().0,
            Way::Older => keep.retain(|&at| events.columns[at].name != LATER),
            Way::Plain | Way::Full => {}
        }
        let schema = events.stored();
        let columns = batch.columns().iter().zip(schema.fields());
        let columns = columns.map(|(column, field)| cast(column, field.data_type()).unwrap());
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns.collect()).unwrap();
        let batch = batch.project(&keep).unwrap();
        let mut writer =
            ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    /// A table of two files, and of rows that are in none.
    fn scan(folder: &Path, ways: [Way; 2], hot: bool) -> Scan {
        let events = table("events").unwrap();
        let place = Arc::new(Place::directory(folder).unwrap());
        let mut parts = Vec::new();
        for (number, way) in (0_u8..).zip(ways) {
            // Rows that hardly repeat in one file, runs in the other.
            let run = [3, 25][usize::from(number)];
            let seed: Vec<(u8, i64)> =
                (0..200_u8).map(|row| (row / run + number, i64::from(row) * 7)).collect();
            let path = format!("day=2026-11-1{number}/{way:?}.parquet");
            let bytes = bytes(&made_up(&seed), way);
            let whole = folder.join("events").join(&path);
            std::fs::create_dir_all(whole.parent().unwrap()).unwrap();
            std::fs::write(whole, &bytes).unwrap();
            let day = Some(format!("2026-11-1{number}"));
            let add = Add {
                path,
                size: i64::try_from(bytes.len()).unwrap(),
                partition_values: [("day".to_owned(), day)].into(),
                ..Add::default()
            };
            parts.push(Arc::new(Part::new(events, add)));
        }
        let rows = asked(events, &made_up(&[(3, 4), (9, 9), (10, 2)])).unwrap();
        let hot = hot.then_some(rows).into_iter().collect();
        Scan { table: events, place, version: 0, parts: Arc::new(parts), hot }
    }

    fn context(scan: &Scan) -> SessionContext {
        let state = SessionStateBuilder::new_with_default_features()
            .with_config(Store::settings().with_target_partitions(2))
            .with_physical_optimizer_rule(Arc::new(Tallying));
        let context = SessionContext::new_with_state(state.build());
        context.register_table("events", Arc::new(scan.clone())).unwrap();
        context
    }

    async fn lines(context: &SessionContext, question: &str) -> Vec<String> {
        let rows = context.sql(question).await.unwrap().collect().await.unwrap();
        let text = pretty_format_batches(&rows).unwrap().to_string();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// Answers are those over the same rows in memory, which have no references.
    async fn check(ways: [Way; 2], hot: bool) {
        let folder = tempfile::tempdir().unwrap();
        let scan = scan(folder.path(), ways, hot);
        let ours = context(&scan);
        let all = ours.sql("select * from events").await.unwrap().collect().await.unwrap();
        let theirs = SessionContext::new();
        let all = MemTable::try_new(scan.table.asked(), vec![all]).unwrap();
        theirs.register_table("events", Arc::new(all)).unwrap();
        for (question, refers) in QUESTIONS {
            let plan = lines(&ours, &format!("explain {question}")).await.join("\n");
            assert_eq!(plan.contains("Referring: "), refers, "{question}\n{plan}");
            let want = lines(&theirs, question).await;
            assert_eq!(lines(&ours, question).await, want, "{ways:?} {hot} {question}");
        }
    }

    #[tokio::test]
    async fn answers_are_those_over_plain_texts() {
        for hot in [false, true] {
            check([Way::Ours, Way::Ours], hot).await;
            check([Way::Ours, Way::Plain], hot).await;
            check([Way::Ours, Way::Full], hot).await;
            check([Way::Older, Way::Ours], hot).await;
        }
    }

    /// References are read where all pages have nothing else, in files of older schemas, too; and nowhere else.
    #[tokio::test]
    async fn who_has_plain_texts_is_read_as_that() {
        for (ways, column, want) in [
            ([Way::Ours, Way::Ours], "op", true),
            ([Way::Ours, Way::Older], "op", true),
            ([Way::Ours, Way::Plain], "op", false),
            ([Way::Ours, Way::Full], "op", false),
            ([Way::Ours, Way::Older], LATER, false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let scan = scan(folder.path(), ways, false);
            let fields = scan.table.asked();
            let at = fields.index_of(column).unwrap();
            let frame = context(&scan).sql("select * from events").await.unwrap();
            let plain = frame.create_physical_plan().await.unwrap();
            let found = Referring::referring(&plain, &[at].into()).await.unwrap();
            assert_eq!(found.is_some(), want, "{ways:?} {column}");
            let Some(found) = found else { continue };
            assert!(matches!(found.schema().field(at).data_type(), DataType::Dictionary(..)));
        }
    }
}
