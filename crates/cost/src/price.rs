//! Hourly prices of machines: given by the user, or from the table of instances.

use serde::{Deserialize, Serialize};

/// The table.
const TABLE: &str = include_str!("../instances.toml");

/// The price of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// US dollars per hour.
    pub dollars_per_hour: f64,
    /// `given`, or the instance type and the source of its price.
    pub source: String,
}

/// An unknown or impossible price: the problem, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("price: {0}")]
pub struct PriceError(String);

/// An instance type of a cloud.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// The cloud's name for it.
    pub name: String,
    /// The cloud.
    pub provider: String,
    /// The CPU's name.
    pub cpu: String,
    /// The core's microarchitecture.
    pub microarchitecture: String,
    /// `x86_64` or `aarch64`.
    pub architecture: String,
    /// Number of hardware threads.
    pub threads: u32,
    /// Frequency in hertz, if the source states one.
    #[serde(default)]
    pub hertz: Option<f64>,
    /// The source of everything but the price.
    pub source: String,
    /// The price, if a source for it was found.
    #[serde(default)]
    pub price: Option<ListedPrice>,
}

/// A published price.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedPrice {
    /// US dollars per hour, on demand, with Linux.
    pub dollars_per_hour: f64,
    /// The cloud's region, if the source states it.
    #[serde(default)]
    pub region: Option<String>,
    /// The date of the price list, if the source states it.
    #[serde(default)]
    pub date: Option<String>,
    /// The source of the price.
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(rename = "instance")]
    instances: Vec<Instance>,
}

/// The table of instances.
///
/// # Panics
/// Never: a test reads it.
pub fn instances() -> Vec<Instance> {
    let table: Table = toml::from_str(TABLE).expect("a table that a test reads");
    table.instances
}

/// A price given by the user.
///
/// # Errors
/// A number that is not positive.
pub fn given(dollars_per_hour: f64) -> Result<Price, PriceError> {
    match dollars_per_hour.is_finite() && dollars_per_hour > 0.0 {
        true => Ok(Price { dollars_per_hour, source: "given".to_owned() }),
        false => Err(PriceError(format!(
            "expected a positive number of dollars an hour, found {dollars_per_hour}"
        ))),
    }
}

/// The price of an instance type, by the cloud's name for it.
///
/// # Errors
/// An instance type that is not in the table or has no price there; the error says what to do.
pub fn of_instance(name: &str) -> Result<Price, PriceError> {
    let instances = instances();
    let instance = instances.iter().find(|instance| instance.name == name).ok_or_else(|| {
        let known: Vec<_> = instances.iter().map(|instance| instance.name.as_str()).collect();
        PriceError(format!(
            "{name} is not in the table of instances ({}): give dollars an hour",
            known.join(", ")
        ))
    })?;
    let unknown = || PriceError(format!("no source for the price of {name} is known: give dollars an hour"));
    instance.listed().ok_or_else(unknown)
}

/// A price in words: a number of dollars an hour, or an instance type's name.
///
/// # Errors
/// As [`given`] and [`of_instance`].
pub fn parse(text: &str) -> Result<Price, PriceError> {
    text.parse().map_or_else(|_| of_instance(text), given)
}

impl Instance {
    fn listed(&self) -> Option<Price> {
        let price = self.price.as_ref()?;
        let stated = [&price.region, &price.date].into_iter().flatten();
        let parts: Vec<_> =
            [&self.name].into_iter().chain(stated).chain([&price.source]).map(String::as_str).collect();
        Some(Price { dollars_per_hour: price.dollars_per_hour, source: parts.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_of_the_table_has_its_source() {
        let instances = instances();
        for instance in &instances {
            assert!(instance.source.len() > 10, "{}", instance.name);
            assert!(instance.threads > 0 && instance.hertz.is_none_or(|hertz| (1e9..6e9).contains(&hertz)));
            let Some(price) = &instance.price else { continue };
            assert!((0.01..100.0).contains(&price.dollars_per_hour), "{}", instance.name);
            assert!(price.source.len() > 10, "{}", instance.name);
            // A price list has a date and a region; prices from articles need not.
            assert_eq!(
                (price.region.is_some(), price.date.is_some()),
                [price.source.contains("list"); 2].into()
            );
            assert!(price.date.as_ref().is_none_or(|date| date.parse::<jiff::civil::Date>().is_ok()));
        }
        let mut names: Vec<_> = instances.iter().map(|instance| &instance.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), instances.len(), "names that occur twice");
    }

    /// Table 2 of the paper, by families.
    #[test]
    fn the_table_has_the_papers_instances() {
        let instances = instances();
        for (family, threads, hertz) in [
            ("c7g.", 64, 2.6e9),
            ("c8g.", 192, 2.8e9),
            ("ecs.c8y.", 128, 3e9),
            ("c4a-", 72, 3.1e9),
            ("c7a.", 192, 3.7e9),
            ("c7i.", 192, 3.7e9),
        ] {
            let largest = instances
                .iter()
                .filter(|one| one.name.starts_with(family))
                .max_by_key(|one| one.threads)
                .unwrap();
            assert_eq!((largest.threads, largest.hertz), (threads, Some(hertz)), "{family}");
        }
    }

    #[test]
    fn a_price_names_its_source() {
        let price = of_instance("c8g.48xlarge").unwrap();
        assert_eq!(price.dollars_per_hour, 7.65696);
        assert!(
            price.source.contains("us-east-1") && price.source.contains("2026-01-19"),
            "{}",
            price.source
        );
        assert_eq!(parse("c8g.48xlarge"), Ok(price));
    }

    #[test]
    fn unknown_prices_are_errors() {
        let error = of_instance("c9z.mega").unwrap_err().to_string();
        assert!(error.contains("c8g.48xlarge") && error.contains("dollars an hour"), "{error}");
        let error = of_instance("ecs.c8y.32xlarge").unwrap_err().to_string();
        assert!(error.contains("no source"), "{error}");
        for wrong in ["0", "-1", "nan", "inf"] {
            assert!(parse(wrong).unwrap_err().to_string().contains("positive"), "{wrong}");
        }
        parse("").unwrap_err();
        assert_eq!(parse("1.5"), Ok(Price { dollars_per_hour: 1.5, source: "given".to_owned() }));
    }
}
