//! The languages of new plugins, with their files, as tables.

use std::path::{Path, PathBuf};

use clap::{ValueEnum, builder::PossibleValue};

use super::sketch::SketchLanguage;

/// A language in which plugins can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginLanguage(&'static LanguageFacts);

/// Facts about a language.
#[derive(Debug, PartialEq, Eq)]
struct LanguageFacts {
    /// Name on the command line.
    name: &'static str,
    /// Name for people.
    title: &'static str,
    /// The file with the actions.
    program: &'static str,
    /// Language of a sketch of an API.
    sketch: SketchLanguage,
    /// Path of the SDK in Loggia's source, and its manifest.
    sdk: [&'static str; 2],
    /// How the plugin's manifest names an SDK in a folder, before and after its path.
    reference: ReferenceForm,
    files: &'static [TemplateFile],
}

/// Form in which a manifest names a folder.
#[derive(Debug, PartialEq, Eq)]
enum ReferenceForm {
    Cargo,
    Pip,
    Npm,
}

/// Path in the plugin's folder, and text.
type TemplateFile = (&'static str, &'static str);

/// What the templates leave open.
pub struct TemplateValues<'a> {
    /// Name of the plugin.
    pub name: &'a str,
    /// The SDK, as the manifest names it.
    pub sdk: &'a str,
}

macro_rules! template {
    ($file:literal) => {
        include_str!(concat!("../../templates/", $file))
    };
}

const POLICY: TemplateFile = ("{{name}}.toml", template!("shared/policy.toml"));
const SHARED: &[TemplateFile] = &[
    ("tests/{{name}}.yaml", template!("shared/cases.yaml")),
    (".gitignore", template!("shared/gitignore")),
    ("README.md", template!("shared/README.md")),
];

static LANGUAGES: [LanguageFacts; 4] = [
    LanguageFacts {
        name: "rust",
        title: "Rust",
        program: "src/lib.rs",
        sketch: SketchLanguage::Rust,
        sdk: ["sdk", "Cargo.toml"],
        reference: ReferenceForm::Cargo,
        files: &[
            POLICY,
            ("src/lib.rs", template!("rust/lib.rs")),
            // Not named `Cargo.toml` there: cargo would leave its folder out of the package.
            ("Cargo.toml", template!("rust/Cargo.toml.template")),
        ],
    },
    LanguageFacts {
        name: "python",
        title: "Python",
        program: "app.py",
        sketch: SketchLanguage::Python,
        sdk: ["sdk/python", "pyproject.toml"],
        reference: ReferenceForm::Pip,
        files: &[
            ("{{name}}.toml", template!("python/policy.toml")),
            ("app.py", template!("python/app.py")),
            ("requirements.txt", template!("python/requirements.txt")),
        ],
    },
    LanguageFacts {
        name: "js",
        title: "JavaScript",
        program: "src/index.js",
        sketch: SketchLanguage::JavaScript,
        sdk: ["sdk/js", "package.json"],
        reference: ReferenceForm::Npm,
        files: &[
            POLICY,
            ("src/index.js", template!("js/index.js")),
            ("package.json", template!("js/package.json.template")),
            (".npmrc", template!("js/npmrc")),
        ],
    },
    LanguageFacts {
        name: "ts",
        title: "TypeScript",
        program: "src/index.ts",
        sketch: SketchLanguage::TypeScript,
        sdk: ["sdk/js", "package.json"],
        reference: ReferenceForm::Npm,
        files: &[
            POLICY,
            ("src/index.ts", template!("ts/index.ts")),
            ("package.json", template!("ts/package.json.template")),
            ("tsconfig.json", template!("ts/tsconfig.json")),
            (".npmrc", template!("js/npmrc")),
        ],
    },
];

impl ValueEnum for PluginLanguage {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: [PluginLanguage; 4] = [
            PluginLanguage(&LANGUAGES[0]),
            PluginLanguage(&LANGUAGES[1]),
            PluginLanguage(&LANGUAGES[2]),
            PluginLanguage(&LANGUAGES[3]),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name))
    }
}

impl PluginLanguage {
    /// Names of all languages.
    pub fn names() -> Vec<&'static str> {
        LANGUAGES.iter().map(|language| language.name).collect()
    }

    /// Finds a language by its name, or its name for people.
    pub fn from_name(name: &str) -> Option<Self> {
        let is_it = |language: &&Self| {
            [language.0.name, language.0.title].iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        Self::value_variants().iter().find(is_it).copied()
    }

    /// Name for people.
    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// The file with the actions.
    pub fn program(self) -> &'static str {
        self.0.program
    }

    /// The language of sketches.
    pub fn sketch(self) -> SketchLanguage {
        self.0.sketch
    }

    /// Path of the SDK in Loggia's source, and the name of its manifest.
    pub fn sdk(self) -> [&'static str; 2] {
        self.0.sdk
    }

    /// Names an SDK in a folder as the language's manifests do.
    pub fn refer_to(self, sdk: &Path) -> String {
        let path = sdk.display().to_string();
        match self.0.reference {
            ReferenceForm::Cargo => format!("{{ path = {} }}", toml::Value::String(path)),
            ReferenceForm::Pip => {
                let url = url::Url::from_directory_path(sdk).map(String::from).unwrap_or(path);
                format!("loggia-sdk[build] @ {}", url.trim_end_matches('/'))
            }
            ReferenceForm::Npm => serde_json::Value::String(format!("file:{path}")).to_string(),
        }
    }

    /// Renders the files of a new plugin, with paths in its folder.
    pub fn render(self, values: &TemplateValues<'_>) -> Vec<(PathBuf, String)> {
        let fill = |text: &str| {
            text.replace("{{name}}", values.name)
                .replace("{{sdk}}", values.sdk)
                .replace("{{language}}", self.0.title)
                .replace("{{program}}", self.0.program)
        };
        let files = self.0.files.iter().chain(SHARED);
        files.map(|(file, text)| (PathBuf::from(fill(file)), fill(text))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_fills_its_templates() {
        for language in PluginLanguage::value_variants() {
            let sdk = language.refer_to(Path::new("/srv/loggia/sdk"));
            let files = language.render(&TemplateValues { name: "sky-watch", sdk: &sdk });
            let names: Vec<String> = files.iter().map(|(file, _)| file.display().to_string()).collect();
            for expected in ["sky-watch.toml", "tests/sky-watch.yaml", "README.md", language.0.program] {
                assert!(names.iter().any(|name| name == expected), "{expected} in {names:?}");
            }
            for (file, text) in &files {
                assert!(!text.contains("{{"), "{}: {text}", file.display());
            }
            assert!(files.iter().any(|(_, text)| text.contains("/srv/loggia/sdk")), "{}", language.title());
            assert_eq!(PluginLanguage::from_name(language.title()), Some(*language));
        }
    }

    #[test]
    fn folders_are_named_as_manifests_do() {
        let check = |name: &str, expected: &str| {
            let language = PluginLanguage::from_name(name).unwrap();
            assert_eq!(language.refer_to(Path::new("/srv/my sdk")), expected);
        };
        check("rust", "{ path = \"/srv/my sdk\" }");
        check("python", "loggia-sdk[build] @ file:///srv/my%20sdk");
        check("ts", "\"file:/srv/my sdk\"");
    }
}
