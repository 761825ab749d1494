//! Outlines: the properties of a source that are known before it is read.

use super::form::Form;
use super::metric::AnyMetric;
use super::parts::Part;

/// The properties of a [source](super::Source) that are known before it is read: its form, label
/// names and bounds.
///
/// ```
/// use windrow::export::{Form, Source};
/// use windrow::{Counter, Family, labels};
///
/// labels! { pub struct Request { route: str, status: u16 } }
///
/// static REQUESTS: Family<Request, Counter> = Family::new().with_max_series(20);
///
/// let outline = REQUESTS.outline();
/// assert_eq!(outline.form, Form::Counter);
/// assert_eq!(outline.labels, ["route", "status"]);
/// assert_eq!((outline.max_series, outline.overflows), (20, true));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outline {
    /// The type of its metrics.
    pub form: Form,
    /// The names of the labels of its series.
    pub labels: Vec<String>,
    /// The greatest number of series, without the overflow series.
    pub max_series: usize,
    /// True if there may be an overflow series. Its one label has the name of
    /// [`Part::OVERFLOW`](super::Part::OVERFLOW), and the value `true`.
    pub overflows: bool,
    /// True if a removed series may return with its former counts.
    pub series_return: bool,
    /// The metrics in each series, if the form is [`Form::Fields`]; otherwise empty. Those of a
    /// struct in a struct are listed one by one, as `outer_inner`.
    pub(super) fields: Vec<OutlineField>,
}

/// One of several metrics in each series of a [source](super::Source).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutlineField {
    /// The name of the field.
    pub(super) name: String,
    /// The type of its metrics.
    pub(super) form: Form,
    /// Its position in the struct; in a struct in a struct, one position after the other.
    pub(super) path: Vec<usize>,
}

impl Outline {
    /// Returns a label of the source that exporters need for another purpose, if there is one: a
    /// label `overflow` beside an overflow series, or a label that samples have.
    pub(super) fn reserved_label(&self) -> Option<&str> {
        let mut forms = vec![self.form];
        forms.extend(self.fields.iter().map(|field| field.form));
        let is_reserved = |label: &str| {
            forms.iter().any(|form| form.sample_labels().contains(&label))
                || (self.overflows && label == Part::OVERFLOW.suffix)
        };
        self.labels.iter().map(String::as_str).find(|label| is_reserved(label))
    }

    /// Returns the outline with the fields of a metric of the source.
    #[inline]
    pub(super) fn with_fields_of(mut self, metric: AnyMetric<'_>) -> Outline {
        list("", &mut Vec::new(), metric, &mut self.fields);
        self
    }
}

/// The outline of a metric without labels: for a [`Source`](super::Source) of the program's own.
///
/// ```
/// use windrow::Counter;
/// use windrow::export::{Form, Outline, Series, Source};
///
/// /// A counter that is exported only while it is switched on.
/// struct Switched { counter: Counter, is_on: bool }
///
/// impl Source for Switched {
///     fn outline(&self) -> Outline { Outline::from(Form::Counter) }
///
///     fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
///         if self.is_on {
///             self.counter.visit(see);
///         }
///     }
/// }
///
/// let mut series = 0;
/// Switched { counter: Counter::new(), is_on: false }.visit(&mut |_| series += 1);
/// assert_eq!(series, 0);
/// ```
impl From<Form> for Outline {
    fn from(form: Form) -> Outline {
        Outline {
            form,
            labels: Vec::new(),
            max_series: 1,
            overflows: false,
            series_return: false,
            fields: Vec::new(),
        }
    }
}

/// Lists the fields of a metric, which is itself at a path.
#[inline]
fn list(name: &str, path: &mut Vec<usize>, metric: AnyMetric<'_>, into: &mut Vec<OutlineField>) {
    let AnyMetric::Fields(fields) = metric else {
        if !path.is_empty() {
            into.push(OutlineField {
                name: name.to_owned(),
                form: metric.form(),
                path: path.clone(),
            });
        }
        return;
    };
    for (position, field) in fields.names().iter().enumerate() {
        let name = if name.is_empty() { (*field).to_owned() } else { format!("{name}_{field}") };
        path.push(position);
        list(&name, path, fields.field(position), into);
        path.pop();
    }
}
