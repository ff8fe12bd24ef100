//! The tools that a request offers, and how its shell is called.

use serde_json::{Map, Value, json};

use crate::conversation::list;

/// A tool that the model may call.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// Takes free text instead of arguments.
    pub(crate) is_custom: bool,
    pub(crate) namespace: Option<String>,
    schema: Value,
}

/// What a tool is called with.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// By name.
    Arguments(Value),
    /// Free text.
    Text(String),
}

impl Input {
    /// As text, JSON where it is not text by itself.
    pub(crate) fn as_text(&self) -> String {
        match self {
            Self::Arguments(arguments) => arguments.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    pub(crate) fn as_json(&self) -> Value {
        match self {
            Self::Arguments(arguments) => arguments.clone(),
            Self::Text(text) => Value::from(text.as_str()),
        }
    }
}

/// Names under which programs offer a shell, in lower case.
const SHELLS: [&str; 7] = [
    "bash",
    "shell",
    "shell_command",
    "exec_command",
    "local_shell",
    "run_shell_command",
    "terminal",
];

/// The tool of Codex that takes a program in JavaScript, in which its shell is a function.
const SCRIPTS: &str = "exec";

/// Every tool that `body` offers, with those of groups.
pub(crate) fn offered(body: &Value) -> Vec<Tool> {
    let mut found = Vec::new();
    collect(&body["tools"], None, &mut found);
    for item in list(&body["input"]) {
        if item["type"] == "additional_tools" {
            collect(&item["tools"], None, &mut found);
        }
    }
    found
}

fn collect(tools: &Value, namespace: Option<&str>, found: &mut Vec<Tool>) {
    for tool in list(tools) {
        let kind = tool["type"].as_str();
        let group = match (&tool["functionDeclarations"], kind) {
            (Value::Null, Some("namespace")) => &tool["tools"],
            (functions, _) => functions,
        };
        if group.is_array() {
            collect(group, tool["name"].as_str(), found);
            continue;
        }
        let function = tool.get("function").unwrap_or(tool);
        let schema = ["input_schema", "parameters", "parametersJsonSchema"]
            .iter()
            .find_map(|name| function.get(*name));
        found.push(Tool {
            name: function["name"].as_str().or(kind).unwrap_or("?").to_owned(),
            is_custom: kind == Some("custom"),
            namespace: namespace.map(str::to_owned),
            schema: schema.cloned().unwrap_or_default(),
        });
    }
}

/// The tool that runs commands.
pub(crate) fn shell(tools: &[Tool]) -> Option<&Tool> {
    let is_shell = |tool: &&Tool| SHELLS.contains(&tool.name.to_lowercase().as_str());
    let runs_scripts = |tool: &&Tool| tool.is_custom && tool.name == SCRIPTS;
    let mut tools = tools.iter();
    tools
        .clone()
        .find(is_shell)
        .or_else(|| tools.find(runs_scripts))
}

impl Tool {
    /// What runs `command`, in the shape that this tool wants, with those of the arguments `more`
    /// that it knows.
    pub(crate) fn running(&self, command: &str, more: &Map<String, Value>) -> Input {
        if self.is_custom {
            let mut arguments = more.clone();
            arguments.insert("cmd".to_owned(), command.into());
            let arguments = Value::from(arguments);
            return Input::Text(format!(
                "const r = await tools.exec_command({arguments}); \
                 text(typeof r === 'string' ? r : JSON.stringify(r));"
            ));
        }
        let known = &self.schema["properties"];
        let names = ["command", "cmd", "script"];
        let name = names.into_iter().find(|name| known.get(name).is_some());
        let name = name.unwrap_or("command");
        let is_list = known[name]["type"].as_str() == Some("array");
        let value = if is_list {
            json!(["bash", "-lc", command])
        } else {
            command.into()
        };
        let mut arguments = Map::new();
        for required in list(&self.schema["required"])
            .iter()
            .filter_map(Value::as_str)
        {
            let example = match required {
                "description" => "Run the scripted command".into(),
                _ => example(&known[required]),
            };
            arguments.insert(required.to_owned(), example);
        }
        arguments.insert(name.to_owned(), value);
        for (name, value) in more {
            if known.get(name).is_some() {
                arguments.insert(name.clone(), value.clone());
            }
        }
        Input::Arguments(arguments.into())
    }
}

/// A small value that obeys `schema`.
pub(crate) fn example(schema: &Value) -> Value {
    if let Some(first) = list(&schema["enum"]).first() {
        return first.clone();
    }
    let properties = schema["properties"].as_object();
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    let usual = if properties.is_some() {
        "object"
    } else {
        "string"
    };
    match kind.unwrap_or(usual).to_lowercase().as_str() {
        "object" => properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.clone(), example(schema)))
            .collect(),
        "array" => json!([]),
        "boolean" => json!(false),
        "integer" | "number" => json!(1),
        "null" => Value::Null,
        _ => "ok".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_call(body: &Value, name: &str, expected: &Value) {
        let tools = offered(body);
        let shell = shell(&tools).unwrap();
        assert_eq!(shell.name, name);
        let more = json!({"timeout": 5, "unknown": 1});
        let input = shell.running("ls", more.as_object().unwrap());
        assert_eq!(&input.as_json(), expected);
    }

    #[test]
    fn the_shell_of_every_api_is_called_as_it_wants() {
        let properties = json!({"command": {"type": "string"}, "timeout": {}, "description": {}});
        check_call(
            &json!({"tools": [{"name": "Read"}, {"name": "Bash", "input_schema":
                {"properties": properties, "required": ["command", "description"]}}]}),
            "Bash",
            &json!({"command": "ls", "timeout": 5, "description": "Run the scripted command"}),
        );
        check_call(
            &json!({"tools": [{"type": "function", "function": {"name": "shell", "parameters":
                {"properties": {"command": {"type": "array"}, "depth": {"type": "integer"}},
                 "required": ["command", "depth"]}}}]}),
            "shell",
            &json!({"command": ["bash", "-lc", "ls"], "depth": 1}),
        );
        check_call(
            &json!({"tools": [{"functionDeclarations": [{"name": "run_shell_command",
                "parametersJsonSchema": {"properties": {"command": {}}}}]}]}),
            "run_shell_command",
            &json!({"command": "ls"}),
        );
        check_call(
            &json!({"input": [{"type": "additional_tools", "tools": [{"type": "namespace",
                "name": "n", "tools": [{"name": "exec_command",
                "parameters": {"properties": {"cmd": {}}}}]}]}]}),
            "exec_command",
            &json!({"cmd": "ls"}),
        );
        check_call(
            &json!({"tools": [{"type": "custom", "name": "exec"}]}),
            "exec",
            &json!(
                "const r = await tools.exec_command({\"cmd\":\"ls\",\"timeout\":5,\"unknown\":1}); \
                 text(typeof r === 'string' ? r : JSON.stringify(r));"
            ),
        );
    }

    #[test]
    fn examples_obey_their_schema() {
        let schema = json!({"properties": {"a": {"type": ["integer", "null"]}, "b": {"enum": ["x"]},
            "c": {"type": "ARRAY"}, "d": {}, "e": {"type": "boolean"}, "f": {"type": "null"}}});
        let expected = json!({"a": 1, "b": "x", "c": [], "d": "ok", "e": false, "f": null});
        assert_eq!(example(&schema), expected);
    }
}
