//! Prices of machines: dollars an hour, or the name of a cloud's instance in the table that the benchmarks use, too.

use serde::Deserialize;

const TABLE: &str = include_str!("../../../../lab/data/instances.toml");

#[derive(Deserialize)]
struct Table {
    instance: Vec<Instance>,
}

#[derive(Deserialize)]
struct Instance {
    name: String,
    price: Option<Price>,
}

#[derive(Deserialize)]
struct Price {
    dollars_per_hour: f64,
}

/// The price in US dollars an hour: a positive number, or that of an instance with this name.
pub(super) fn dollars_per_hour(text: &str) -> Result<f64, String> {
    if let Ok(price) = text.parse::<f64>() {
        let is_price = price.is_finite() && price > 0.0;
        return is_price.then_some(price).ok_or_else(|| "expected a positive number of dollars".to_owned());
    }
    let table: Table = toml::from_str(TABLE).map_err(|error| format!("the table of instances: {error}"))?;
    let priced = table.instance.into_iter().filter_map(|instance| Some((instance.name, instance.price?)));
    let priced: Vec<_> = priced.map(|(name, price)| (name, price.dollars_per_hour)).collect();
    priced.iter().find(|(name, _)| name == text).map(|(_, price)| *price).ok_or_else(|| {
        let names: Vec<_> = priced.iter().map(|(name, _)| name.as_str()).collect();
        format!("expected dollars an hour, or an instance with a known price: {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::dollars_per_hour;

    #[test]
    fn prices_are_numbers_or_instances() {
        assert_eq!(dollars_per_hour("0.5"), Ok(0.5));
        assert_eq!(dollars_per_hour("c7a.48xlarge"), Ok(9.85344));
        for wrong in ["0", "-1", "nan", "inf"] {
            assert!(dollars_per_hour(wrong).expect_err("no price").contains("positive"), "{wrong}");
        }
        // One that is in the table without a price, and one that is not.
        for unknown in ["ecs.c8y.32xlarge", "c9z.mega", ""] {
            let problem = dollars_per_hour(unknown).expect_err("unknown");
            assert!(problem.contains("c8g.48xlarge") && !problem.contains("ecs.") && !problem.contains('\n'));
        }
    }
}
