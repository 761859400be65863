//! Skills that come with plugins, over HTTP and on stdio.

use std::fs;

use anyhow::{Context, Result, ensure};
use loggia_tests::{Client, ERAS, Folder, Served, Token, eventually, fixture, heard, wire};
use rmcp::model::{
    GetSkillRequestParams, ReadResourceRequestParams, ResourceContents, SkillResources, validate_skills,
};
use serde_json::{Value, json};

const START: &str = "skill://shelf/book-keeping/SKILL.md";
const TEXT: &str =
    "---\nname: book-keeping\ndescription: How to keep documents on the shelf.\nlicense: MIT\n---\n# Books\n";

fn folder() -> Result<Folder> {
    let folder = Folder::with(&["shelf", "echo"]);
    let skill = folder.path().join("shelf.skill");
    fs::create_dir_all(skill.join("references"))?;
    fs::write(skill.join("SKILL.md"), TEXT)?;
    fs::write(skill.join("references/two words.md"), "Two words.")?;
    fs::write(skill.join("references/dot.png"), b"\x89PNG\r\n\x1a\n")?;
    Ok(folder)
}

#[tokio::test]
async fn skills_are_listed_and_their_files_verified() -> Result<()> {
    let folder = folder()?;
    for era in ERAS {
        let client = Client::stdio(folder.path(), era).await?;
        client.names_become(&["echo", "shelf"]).await;
        let skills = client.service.list_skills(None).await?.skills;
        validate_skills(&skills)?;
        let [skill] = skills.as_slice() else { anyhow::bail!("{skills:?}") };
        assert_eq!(skill.uri, START);
        let front = json!({"name": "book-keeping", "description": "How to keep documents on the shelf.", "license": "MIT"});
        assert_eq!(serde_json::to_value(&skill.frontmatter)?, front);
        let got = client.service.get_skill(GetSkillRequestParams::new(START)).await?;
        assert_eq!(got.skill, *skill);
        let SkillResources::Files(files) = &skill.resources else { anyhow::bail!("no manifest") };
        let mut kinds = Vec::new();
        for file in files {
            let read = client.service.read_resource(ReadResourceRequestParams::new(&*file.uri)).await?;
            match read.contents.first().context("contents")? {
                ResourceContents::TextResourceContents { text, mime_type, .. } => {
                    file.verify(text.as_bytes())?;
                    kinds.push((file.uri.clone(), mime_type.clone()));
                }
                ResourceContents::BlobResourceContents { mime_type, .. } => {
                    kinds.push((file.uri.clone(), mime_type.clone()));
                }
                other => anyhow::bail!("{other:?}"),
            }
        }
        let kinds: Vec<_> =
            kinds.iter().map(|(uri, kind)| (&**uri, kind.as_deref().unwrap_or_default())).collect();
        let expected = [
            (START, "text/markdown"),
            ("skill://shelf/book-keeping/references/dot.png", "image/png"),
            ("skill://shelf/book-keeping/references/two%20words.md", "text/markdown"),
        ];
        assert_eq!(kinds, expected, "{era:?}");
        for uri in ["skill://shelf/book-keeping/../../shelf.toml", "skill://echo/x/SKILL.md", "skill://"] {
            let error =
                client.service.read_resource(ReadResourceRequestParams::new(uri)).await.expect_err(uri);
            assert!(error.to_string().contains("Skill not found"), "{error}");
        }
        client.end().await?;
    }
    Ok(())
}

/// H102: a skill belongs to its facade.
#[tokio::test]
async fn callers_see_the_skills_of_their_facades() -> Result<()> {
    let folder = folder()?;
    let (one, other) = (Token::new("one", &["shelf:get"]).await?, Token::new("other", &["echo:*"]).await?);
    let served = Served::configured(&folder, "", &[&one, &other]).await?;
    let ask = async |token: &Token, method: &str, params: Value| -> Result<Value> {
        let name = params["uri"].as_str().unwrap_or_default().to_owned();
        let headers = format!("{}{}Connection: close\r\n", wire::named(method, &name), token.header());
        let request = wire::post(&served.host, &headers, &wire::request(1, method, params));
        wire::send(served.host.authority(), request.as_bytes()).await?.message()
    };
    for (token, count) in [(&one, 1), (&other, 0)] {
        let list = ask(token, "skills/list", json!({})).await?;
        assert_eq!(list["result"]["skills"].as_array().map(Vec::len), Some(count), "{list}");
        for method in ["skills/get", "resources/read"] {
            let answer = ask(token, method, json!({"uri": START})).await?;
            ensure!((answer["error"]["code"] == -32602) == (count == 0), "{method}: {answer}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn changed_skills_are_served_and_broken_ones_leave_the_old_one() -> Result<()> {
    let folder = folder()?;
    let mut client = Client::stdio(folder.path(), loggia_tests::Era::Stateful).await?;
    client.names_become(&["echo", "shelf"]).await;
    let description = async || {
        let skills = client.service.list_skills(None).await.map_err(|error| error.to_string())?.skills;
        Ok::<_, String>(skills.first().map(|skill| skill.frontmatter.description.clone()))
    };
    let becomes = async |expected: Option<&str>| {
        eventually(async || match description().await? {
            found if found.as_deref() == expected => Ok(()),
            other => Err(format!("{other:?}")),
        })
        .await;
    };
    let start = folder.path().join("shelf.skill/SKILL.md");
    fs::write(&start, TEXT.replace("How to keep", "How to find"))?;
    becomes(Some("How to find documents on the shelf.")).await;
    fs::write(&start, "no frontmatter")?;
    // A change that follows it shows that it was read.
    folder.put("version", &fixture("version_one"));
    client.names_become(&["echo", "shelf", "version"]).await;
    assert_eq!(description().await, Ok(Some("How to find documents on the shelf.".to_owned())));
    fs::remove_dir_all(folder.path().join("shelf.skill"))?;
    becomes(None).await;
    heard("that the lists changed", &mut client.changed).await?;
    client.end().await
}
