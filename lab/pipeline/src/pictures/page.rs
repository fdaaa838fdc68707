//! Pictures on a page.

use super::svg::Escaped;

/// A page of HTML with pictures: for each its heading, a text, and the picture as one of this module's functions has made it. Headings and
/// texts are escaped; the page has no scripts and loads nothing.
pub fn page(title: &str, pictures: &[(&str, &str, &str)]) -> String {
    let mut body = String::new();
    for (heading, text, svg) in pictures {
        body += &format!(
            "<section>\n<h2>{}</h2>\n<p>{}</p>\n<figure>\n{svg}</figure>\n</section>\n",
            Escaped(heading),
            Escaped(text)
        );
    }
    if pictures.is_empty() {
        body += "<p>There are no pictures.</p>\n";
    }
    let title = Escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n\
         :root {{ color-scheme: light dark }}\n\
         body {{ font: 16px/1.5 sans-serif; max-width: 90rem; margin: 2rem auto; padding: 0 1rem }}\n\
         p {{ max-width: 45rem }}\n\
         figure {{ margin: 1rem 0; overflow-x: auto }}\n\
         svg {{ display: block; border: 1px solid #8a8a8a }}\n\
         </style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}
