//! `job('…')` where it could not be resolved before planning: all it does is say why.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use super::super::error::{Error, Kind};

/// The function. [`super::super::job`] replaces it by the job's key wherever its argument is a text.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Job {
    signature: Signature,
}

impl Job {
    pub(super) fn new() -> Job {
        Job { signature: Signature::string(1, Volatility::Stable) }
    }
}

impl ScalarUDFImpl for Job {
    fn name(&self) -> &'static str {
        "job"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(Error::new(Kind::Function, "job() takes a text as it stands: job('1234')").into())
    }
}
