//! The step of a plan that makes partial sums.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, PhysicalExpr};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};
use futures::StreamExt as _;

use super::group::{Groups, whole};
use super::sum::Sum;

/// Groups that are kept at a time. Beyond that their sums go out, and whoever comes after puts them together.
const MOST: usize = 1 << 16;
/// Rows of a group, on average, below which looking for groups does not pay.
const WORTH: usize = 2;

/// Partial sums of groups, in the columns of the step that was planned.
#[derive(Debug)]
pub(super) struct Tally {
    /// Knows expressions, columns and properties; it is never run.
    planned: Arc<AggregateExec>,
    metrics: ExecutionPlanMetricsSet,
}

impl Tally {
    pub(super) fn new(planned: AggregateExec) -> Tally {
        Tally::of(Arc::new(planned))
    }

    fn of(planned: Arc<AggregateExec>) -> Tally {
        Tally { planned, metrics: ExecutionPlanMetricsSet::new() }
    }
}

impl DisplayAs for Tally {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tally: ")?;
        self.planned.fmt_as(kind, f)
    }
}

impl ExecutionPlan for Tally {
    fn name(&self) -> &'static str {
        "Tally"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.planned.properties()
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::UnspecifiedDistribution]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.planned.children()
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let planned = Arc::clone(&self.planned).replace_children(children, options)?;
        Ok(match planned.downcast_ref::<AggregateExec>() {
            Some(planned) => Arc::new(Tally::new(planned.clone())),
            None => planned,
        })
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
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.planned.apply_expressions(f)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let schema = self.planned.schema();
        let work = Work::new(
            &self.planned,
            self.planned.input().execute(partition, Arc::clone(&context))?,
            MemoryConsumer::new(format!("Tally[{partition}]")).register(context.memory_pool()),
            BaselineMetrics::new(&self.metrics, partition),
        )?;
        let rows = futures::stream::try_unfold(work, |mut work| async move {
            Ok(work.next().await?.map(|batch| (batch, work)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// What one part of the rows is at.
struct Work {
    schema: SchemaRef,
    /// What rows are grouped by.
    keys: Vec<Arc<dyn PhysicalExpr>>,
    input: SendableRecordBatchStream,
    groups: Groups,
    sums: Vec<Sum>,
    /// Rows since the groups began.
    rows: usize,
    /// Nearly every row is a group of its own: they go on as they are.
    alone: bool,
    ended: bool,
    memory: MemoryReservation,
    metrics: BaselineMetrics,
}

impl Work {
    fn new(
        planned: &AggregateExec,
        input: SendableRecordBatchStream,
        memory: MemoryReservation,
        metrics: BaselineMetrics,
    ) -> Result<Work> {
        let given = planned.input().schema();
        let sums = planned.aggr_expr().iter().map(|function| {
            let argument = function.expressions().first().map(|one| one.data_type(&given));
            Sum::new(function, argument.transpose()?.as_ref())
        });
        Ok(Work {
            schema: planned.schema(),
            keys: planned.group_expr().input_exprs(),
            input,
            groups: Groups::default(),
            sums: sums.collect::<Result<_>>()?,
            rows: 0,
            alone: false,
            ended: false,
            memory,
            metrics,
        })
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while !self.ended {
            let Some(batch) = self.input.next().await.transpose()? else {
                self.ended = true;
                break;
            };
            if batch.num_rows() == 0 {
                continue;
            }
            let timer = self.metrics.elapsed_compute().clone();
            let _timer = timer.timer();
            if self.alone {
                return self.each_alone(&batch).map(Some);
            }
            let before = self.groups.len();
            self.add(&batch)?;
            if self.groups.len() > before && !self.fits() {
                return self.out().map(Some);
            }
        }
        if self.groups.len() == 0 { Ok(None) } else { self.out().map(Some) }
    }

    fn keys(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let keys = self.keys.iter();
        keys.map(|key| key.evaluate(batch)?.into_array(batch.num_rows())).collect()
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let keys = self.keys(batch)?;
        self.rows += batch.num_rows();
        let mut values = Vec::with_capacity(self.sums.len());
        for sum in &self.sums {
            values.push(sum.values(batch)?);
        }
        self.groups.find(&keys)?;
        let sums = self.sums.iter_mut().zip(&values);
        { sums }
            .try_for_each(|(sum, values)| sum.add(values, &self.groups.rows(), self.groups.len()))
    }

    /// Whether more groups may be kept.
    fn fits(&mut self) -> bool {
        let bytes = self.groups.bytes() + self.sums.iter().map(Sum::bytes).sum::<usize>();
        self.groups.len() < MOST && self.memory.try_resize(bytes).is_ok()
    }

    /// The groups so far, which begin anew.
    fn out(&mut self) -> Result<RecordBatch> {
        self.alone = self.rows < self.groups.len() * WORTH && self.groups.len() >= MOST;
        self.rows = 0;
        let mut columns = self.groups.take()?;
        for sum in &mut self.sums {
            columns.extend(sum.take()?);
        }
        self.memory.free();
        self.given(columns)
    }

    /// Every row as a group.
    fn each_alone(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut columns = Vec::new();
        for key in self.keys(batch)? {
            columns.push(whole(&key)?);
        }
        for sum in &self.sums {
            columns.extend(sum.alone(batch)?);
        }
        self.given(columns)
    }

    fn given(&self, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        self.metrics.record_output(batch.num_rows());
        Ok(batch)
    }
}
