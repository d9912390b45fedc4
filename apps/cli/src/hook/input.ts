/** The JSON that a client passes to a hook. Clients differ in names; the meaning is the same. */

type JsonObject = Readonly<Record<string, unknown>>;

export interface HookInput {
  /** The folder in which the client works. */
  readonly folder: string;
  /** The files that the tool is about to edit, as the client names them. */
  readonly editedFiles: readonly string[];
  /** True if the client continues because of an earlier answer to its stop, or if a person aborted it. */
  readonly isStopAnswered: boolean;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const firstText = (...values: readonly unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value !== '');

/** Parses a JSON text. Returns undefined if it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Names of built-in tools that change files. Tools of MCP servers edit no files of the repository. */
const isEditTool = (name: string): boolean =>
  /edit|write|create|replace|patch|delete|insert/i.test(name) && !/^(mcp|todo)/i.test(name);

/** Names of parameters in lower case and without underscores. */
const pathFields: ReadonlySet<string> = new Set([
  ...['path', 'filepath', 'notebookpath', 'absolutepath', 'targetfile', 'oldpath', 'newpath'],
  ...['paths', 'filepaths', 'files'],
]);
const patchFields: ReadonlySet<string> = new Set(['patch', 'patchtext', 'input', 'command', 'diff']);

/** Lists the files of a patch in the format of Codex. */
const filesOfPatch = (patch: string): string[] =>
  [...patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map(([, file = '']) =>
    file.trim(),
  );

/** Collects the paths in the parameters of a tool. Lists of edits may be nested. */
function filesOf(value: unknown, field = ''): string[] {
  if (typeof value === 'string') {
    if (pathFields.has(field)) return [value];
    return field === '' || patchFields.has(field) ? filesOfPatch(value) : [];
  }
  if (Array.isArray(value)) return value.flatMap((item) => filesOf(item, field === '' ? '-' : field));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    filesOf(inner, name.toLowerCase().replaceAll('_', '')),
  );
}

/** Reads the input of a hook. Unknown input has no edited files. */
export function parseHookInput(text: string): HookInput {
  const parsed = parseJson(text);
  const input = isObject(parsed) ? parsed : {};
  const [root] = Array.isArray(input['workspace_roots']) ? (input['workspace_roots'] as unknown[]) : [];
  const tool = firstText(input['tool_name'], input['toolName']) ?? '';
  const given = input['tool_input'] ?? input['toolArgs'];
  const params = typeof given === 'string' ? (parseJson(given) ?? given) : given;
  const loops = input['loop_count'];
  return {
    folder: firstText(input['cwd'], root) ?? process.cwd(),
    editedFiles: isEditTool(tool) ? [...new Set(filesOf(params))] : [],
    isStopAnswered:
      input['stop_hook_active'] === true ||
      (typeof loops === 'number' && loops > 0) ||
      input['status'] === 'aborted',
  };
}
