//! The OpenAPI document and its page, and the page at `/`.

use super::{face::Face, guard::OPEN, problem::ProblemBody};
use axum::{
    Router,
    body::Bytes,
    http::{HeaderName, header},
    routing::get,
};
use proofmill_job::{TaskInput, TaskOutput};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        Components, Content, ContentBuilder, Info, License, OpenApi, OpenApiBuilder, Ref, ResponseBuilder,
        path::{Operation, PathItem},
        security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme},
    },
};

/// The content security policy of our pages: they load nothing from elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The document without routes.
pub(super) fn start() -> OpenApi {
    let mut info = Info::new("Proofmill", env!("CARGO_PKG_VERSION"));
    info.description =
        Some("A service for zero-knowledge proofs: a durable queue of jobs, keys that stay warm.".to_owned());
    info.license = Some(License::new(env!("CARGO_PKG_LICENSE")));
    let mut components = Components::new();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    components.schemas.insert(ProblemBody::name().into_owned(), ProblemBody::schema());
    // The schemas of path parameters are not collected.
    components.schemas.insert(<TaskInput as ToSchema>::name().into_owned(), TaskInput::schema());
    components.schemas.insert(<TaskOutput as ToSchema>::name().into_owned(), TaskOutput::schema());
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .security(Some([SecurityRequirement::new("token", [] as [&str; 0])]))
        .build()
}

/// The document as JSON, with ids such as `jobs_list` by which generated clients call the operations, and the errors that any route can answer.
pub(super) fn complete(mut document: OpenApi) -> String {
    for (path, item) in &mut document.paths.paths {
        for operation in operations(item) {
            let is_open = OPEN.contains(&path.as_str());
            let names = operation.tags.iter().flatten().chain(&operation.operation_id);
            operation.operation_id = Some(names.map(String::as_str).collect::<Vec<_>>().join("_"));
            add_errors(operation, is_open);
        }
    }
    document.to_json().expect("it is JSON")
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, .. } = item;
    [get, put, post, delete].into_iter().filter_map(Option::as_mut)
}

fn add_errors(operation: &mut Operation, is_open: bool) {
    let any = [
        ("default", "Another error"),
        ("400", "The request is wrong"),
        ("503", "The service cannot answer now"),
    ];
    let guarded = [
        ("401", "No valid token"),
        ("403", "The token does not allow this"),
        ("429", "The token has as many requests as it may have at the same time"),
    ];
    let guarded = guarded.into_iter().filter(|_| !is_open);
    for (status, description) in any.into_iter().chain(guarded) {
        let responses = &mut operation.responses.responses;
        if !responses.contains_key(status) {
            let response = ResponseBuilder::new().description(description);
            let response = response.content("application/problem+json", problem());
            responses.insert(status.to_owned(), response.build().into());
        }
    }
}

fn problem() -> Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name(ProblemBody::name()))).build()
}

/// The routes of the document and of the pages.
pub(super) fn routes(document: String) -> Router<Face> {
    let document = Bytes::from(document);
    let file =
        |media: &'static str, content: &'static [u8]| get(move || async move { (headers(media), content) });
    Router::new()
        .route("/openapi.json", get(move || async move { (headers("application/json"), document) }))
        .route("/docs", file("text/html; charset=utf-8", include_bytes!("docs.html")))
        .route("/docs/docs.js", file("text/javascript; charset=utf-8", include_bytes!("docs.js")))
        .route("/docs/docs.css", file("text/css; charset=utf-8", include_bytes!("docs.css")))
        .route("/", file("text/html; charset=utf-8", include_bytes!("page.html")))
        .route("/page.js", file("text/javascript; charset=utf-8", include_bytes!("page.js")))
        .route("/page.css", file("text/css; charset=utf-8", include_bytes!("page.css")))
}

fn headers(media: &'static str) -> [(HeaderName, &'static str); 4] {
    [
        (header::CONTENT_TYPE, media),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-cache"),
    ]
}

#[cfg(test)]
mod tests {
    use crate::http::openapi;

    #[test]
    fn references_lead_somewhere() {
        let text = openapi();
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let references = text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next());
        let mut count = 0;
        for reference in references {
            assert!(document.pointer(reference).is_some(), "{reference}");
            count += 1;
        }
        assert!(count > 50, "{count}");
    }
}
