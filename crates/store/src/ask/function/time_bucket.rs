//! `time_bucket(width, t)`: the beginning of the interval that a time lies in.
//!
//! It is `date_bin` under the name that dashboards use, with weeks that begin on a Monday and months that begin on their
//! first day; the width may be a text (`'5 minutes'`, `'300.000s'`).

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, IntervalUnit};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::functions::datetime::date_bin;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility, lit,
};

/// Monday, 3 January 2000, in nanoseconds since 1970.
const MONDAY: i64 = 946_857_600_000_000_000;
/// 1 January 2000.
const NEW_YEAR: i64 = 946_684_800_000_000_000;

/// Where counting begins for a width.
fn origin(width: &ScalarValue, zone: Option<Arc<str>>) -> ScalarValue {
    let months = match width {
        ScalarValue::IntervalMonthDayNano(Some(width)) => width.months,
        _ => 0,
    };
    ScalarValue::TimestampNanosecond(Some(if months == 0 { MONDAY } else { NEW_YEAR }), zone)
}

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct TimeBucket {
    signature: Signature,
}

impl TimeBucket {
    pub(super) fn new() -> TimeBucket {
        TimeBucket { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for TimeBucket {
    fn name(&self) -> &'static str {
        "time_bucket"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let [_, time] = types else {
            return plan_err!("time_bucket takes two arguments: an interval and a time");
        };
        let DataType::Timestamp(..) = time else {
            return plan_err!("time_bucket takes a time as its second argument, not {time}");
        };
        Ok(vec![DataType::Interval(IntervalUnit::MonthDayNano), time.clone()])
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [_, time] => Ok(time.clone()),
            _ => plan_err!("time_bucket takes two arguments: an interval and a time"),
        }
    }

    /// Becomes `date_bin` before anything runs, so that whatever the optimiser knows about that holds here too.
    fn simplify(&self, mut args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        // A width that is still a text or an expression is looked at again later.
        let [Expr::Literal(width @ ScalarValue::IntervalMonthDayNano(_), _), time] =
            args.as_slice()
        else {
            return Ok(ExprSimplifyResult::Original(args));
        };
        let DataType::Timestamp(_, zone) = info.get_data_type(time)? else {
            return Ok(ExprSimplifyResult::Original(args));
        };
        let origin = lit(origin(width, zone));
        args.push(origin);
        Ok(ExprSimplifyResult::Simplified(date_bin().call(args)))
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let DataType::Timestamp(_, zone) = args.return_type().clone() else {
            return plan_err!("time_bucket takes a time as its second argument");
        };
        let Some(ColumnarValue::Scalar(width)) = args.args.first() else {
            return plan_err!("time_bucket takes the same interval for all rows");
        };
        let origin = origin(width, zone);
        args.args.push(origin.into());
        date_bin().invoke_with_args(args)
    }
}
