//! `human_bytes(n)`: a number of bytes as people read it, `12.3 MiB`.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray as _, Float64Array, StringBuilder};
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use netra_event::Bytes;

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct HumanBytes {
    signature: Signature,
}

impl HumanBytes {
    pub(super) fn new() -> HumanBytes {
        // Sums are whole, averages are not: everything becomes a float, which is exact below 8 PiB.
        HumanBytes { signature: Signature::exact(vec![DataType::Float64], Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for HumanBytes {
    fn name(&self) -> &'static str {
        "human_bytes"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [values] = arrays.as_slice() else {
            return exec_err!("human_bytes takes one number");
        };
        let words: ArrayRef = Arc::new(words(values.as_primitive::<Float64Type>()));
        Ok(ColumnarValue::Array(words))
    }
}

fn words(values: &Float64Array) -> datafusion::arrow::array::StringArray {
    let mut words = StringBuilder::with_capacity(values.len(), values.len() * 8);
    for value in values {
        words.append_option(value.map(word));
    }
    words.finish()
}

fn word(value: f64) -> String {
    // A difference can be negative; a sign is all that changes.
    let sign = if value <= -0.5 { "-" } else { "" };
    format!("{sign}{}", Bytes(value.abs().round() as u64))
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn bytes_get_binary_prefixes() {
        assert_eq!(word(0.0), "0 B");
        assert_eq!(word(1536.0), "1.50 KiB");
        assert_eq!(word(-1_048_576.0), "-1.00 MiB");
        assert_eq!(word(0.4), "0 B");
    }
}
