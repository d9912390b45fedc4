/**
 * A stub of a model that speaks the protocols of Anthropic, OpenAI (responses and chat) and Gemini. It makes
 * the calls of a script, from the question who it is to submitted work, and records the conversation. It
 * replaces the vendor's server.
 */
import { serveLocally } from './local-server.ts';
import { filled, refusalsOf } from './strict-schemas.ts';

export interface StubModel {
  readonly url: string;
  /** Names of the tools that a client told its model, from the longest of its lists. */
  readonly tools: () => ReadonlySet<string>;
  /** The names of tools that were declared strict. */
  readonly strict: () => ReadonlySet<string>;
  /** Returns all requests of clients, in order, without escapes of quotes. */
  readonly heard: () => string;
  close(): Promise<void>;
}

type Json = Record<string, unknown>;
interface Told {
  readonly name: string;
  /** The namespace of the tool's server, only in OpenAI's responses. */
  readonly namespace?: string;
  /** The schema of the parameters as the client converted it. Undefined if the client told only names. */
  readonly schema?: Json;
  readonly isStrict: boolean;
}
interface Call {
  readonly name: string;
  readonly namespace?: string;
  readonly args: Json;
}

interface ScriptedCall {
  readonly tool: string;
  /** Returns the arguments, from the text of the conversation. */
  readonly args: (text: string) => Json;
  /** Matches a conversation that contains the result. */
  readonly result: RegExp;
}

/** The project with a story for each client. */
export const projectKey = 'TRY';
export const executionIdPattern = /"execution":\{"id":"([^"]+)"/;
export const leaseTokenPattern = /"leaseToken":"([^"]+)"/;
const heldWork = (text: string): Json => ({
  executionId: executionIdPattern.exec(text)?.[1],
  leaseToken: leaseTokenPattern.exec(text)?.[1],
});

/** An agent's work, with one mistake at its start. */
const script: readonly ScriptedCall[] = [
  { tool: 'session_identity', args: () => ({}), result: /"serverTime":"/ },
  { tool: 'start_work', args: () => ({ storyId: 'NONE-1' }), result: /"code":"not_found"/ },
  { tool: 'next_work', args: () => ({ projectId: projectKey, runId: 'run-1' }), result: leaseTokenPattern },
  {
    tool: 'deliveryExecutions_checkpoint',
    args: (text) => ({ ...heldWork(text), summary: 'The first half' }),
    result: /"checkpoint":\{"seq":1\}/,
  },
  {
    tool: 'submit_work',
    args: (text) => ({ ...heldWork(text), summary: 'All of it', branch: 'try' }),
    result: /"state":"submitted"/,
  },
];

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The fields that contain a tool's parameter schema in the different protocols. */
const schemaFields = ['parameters', 'input_schema', 'parametersJsonSchema'];

/** Finds tools in all formats of the protocols: plain, as functions, as declarations, and in namespaces. */
function toolsIn(body: Json): Told[] {
  const found = (one: Json, namespace?: string): Told[] => {
    const inner = [...listOf(one['functionDeclarations']), ...listOf(one['tools'])];
    const within = one['type'] === 'namespace' ? String(one['name']) : undefined;
    if (inner.length > 0) return inner.flatMap((each) => found(each, within));
    const stated = isObject(one['function']) ? one['function'] : one;
    const name = stated['name'];
    if (typeof name !== 'string') return [];
    const schema = schemaFields.map((field) => stated[field]).find(isObject);
    const isStrict = stated['strict'] === true;
    return [{ name, isStrict, ...(namespace !== undefined && { namespace }), ...(schema && { schema }) }];
  };
  return listOf(body['tools']).flatMap((one) => found(one));
}

/** The number of tool results, in any protocol, after which the model gives up. */
const mostAnswers = 12;
const answersIn = (text: string): number =>
  text.match(/"(?:tool_result|function_call_output|functionResponse)"|"role": ?"tool"/g)?.length ?? 0;

/** Results of tools are JSON in strings of JSON, with quotes that are escaped once or more. */
export const withoutEscapes = (text: string): string => text.replaceAll('\\', '');

/** Returns the next tool call. Undefined if all calls were answered, or if there are no tools. */
function nextCall(body: Json, text: string, calls: readonly ScriptedCall[]): Call | undefined {
  const tools = toolsIn(body);
  // When a client asks the model to classify a prompt, it offers no tools.
  if (tools.length === 0 || answersIn(text) >= mostAnswers) return undefined;
  const plain = withoutEscapes(text);
  const next = calls.find(({ result }) => !result.test(plain));
  if (next === undefined) return undefined;
  const tool = tools.find(({ name }) => name.endsWith(next.tool));
  if (tool !== undefined) {
    const { name, namespace, schema } = tool;
    return { name, ...(namespace !== undefined && { namespace }), args: filled(schema, next.args(plain)) };
  }
  // Claude Code sends its model only the names of tools. The model calls ToolSearch to get a tool's schema.
  const search = tools.find(({ name }) => name === 'ToolSearch');
  const names = calls.map(({ tool: end }) => `mcp__muster__${end}`).join(',');
  return search && !text.includes('tool_reference')
    ? { name: search.name, args: { query: `select:${names}` } }
    : undefined;
}

const said = 'Done.';
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, prompt_tokens: 1, completion_tokens: 1 };
const sse = (events: readonly Json[], isNamed: boolean): string =>
  events
    .map((event) => `${isNamed ? `event: ${String(event['type'])}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('');

function anthropic(call: Call | undefined, id: number, isStream: boolean): string {
  const block = call
    ? { type: 'tool_use', id: `toolu_${id}`, name: call.name, input: call.args }
    : { type: 'text', text: said };
  const reason = call ? 'tool_use' : 'end_turn';
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: 'stub', usage };
  if (!isStream) return JSON.stringify({ ...message, content: [block], stop_reason: reason });
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(call.args) }
    : { type: 'text_delta', text: said };
  const begun = call ? { ...block, input: {} } : { ...block, text: '' };
  return sse(
    [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: begun },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: reason }, usage },
      { type: 'message_stop' },
    ],
    true,
  );
}

function responses(call: Call | undefined, id: number, isStream: boolean): string {
  const item = call
    ? {
        ...{ type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, status: 'completed' },
        ...{ name: call.name, arguments: JSON.stringify(call.args) },
        ...(call.namespace !== undefined && { namespace: call.namespace }),
      }
    : {
        ...{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: said, annotations: [] }],
      };
  const response = { id: `resp_${id}`, object: 'response', model: 'stub', created_at: 1, usage };
  if (!isStream) return JSON.stringify({ ...response, status: 'completed', output: [item] });
  return sse(
    [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...response, status: 'completed', output: [item] } },
    ],
    true,
  );
}

function chat(call: Call | undefined, id: number, isStream: boolean): string {
  const made = call && {
    ...{ index: 0, id: `call_${id}`, type: 'function' },
    function: { name: call.name, arguments: JSON.stringify(call.args) },
  };
  const message = { role: 'assistant', content: call ? null : said, ...(made && { tool_calls: [made] }) };
  const finish_reason = call ? 'tool_calls' : 'stop';
  const about = { id: `chat_${id}`, model: 'stub', created: 1, usage };
  if (!isStream)
    return JSON.stringify({
      ...{ ...about, object: 'chat.completion' },
      choices: [{ index: 0, message, finish_reason }],
    });
  const piece = (delta: Json, reason: string | null): Json => ({
    ...{ ...about, object: 'chat.completion.chunk' },
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  return `${sse([piece(message, null), piece({}, finish_reason)], false)}data: [DONE]\n\n`;
}

function gemini(call: Call | undefined, isStream: boolean): string {
  const part = call ? { functionCall: { name: call.name, args: call.args } } : { text: said };
  const answer = {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
  return isStream ? sse([answer], false) : JSON.stringify(answer);
}

function answerTo(
  path: string,
  body: Json,
  call: Call | undefined,
  id: number,
): { text: string; isStream: boolean } {
  const isStream = body['stream'] === true || path.includes('streamGenerateContent');
  if (path.includes('count_tokens')) return { text: '{"input_tokens":1}', isStream: false };
  if (path.includes('countTokens')) return { text: '{"totalTokens":1}', isStream: false };
  if (path.includes('/messages')) return { text: anthropic(call, id, isStream), isStream };
  if (path.includes('/responses')) return { text: responses(call, id, isStream), isStream };
  if (path.includes('/chat/completions')) return { text: chat(call, id, isStream), isStream };
  if (path.includes('enerateContent')) return { text: gemini(call, isStream), isStream };
  return { text: '{"data":[{"id":"stub","object":"model"}],"models":[]}', isStream: false };
}

/** Starts a model that makes only the first calls of the script, if their number is given. */
export async function startStubModel(callCount = script.length): Promise<StubModel> {
  const calls = script.slice(0, callCount);
  const heard: string[] = [];
  let tools: readonly Told[] = [];
  let id = 0;
  const { url, close } = await serveLocally(async (request, response, text) => {
    const parsed: unknown = text === '' ? {} : JSON.parse(text);
    const body = isObject(parsed) ? parsed : {};
    const told = toolsIn(body);
    if (told.length > tools.length) tools = told;
    heard.push(text);
    const refusals = told.flatMap(({ name, schema, isStrict }) =>
      isStrict ? refusalsOf(schema).map((why) => `Invalid schema for function '${name}': ${why}`) : [],
    );
    if (refusals.length > 0) {
      const error = { message: refusals.join('; '), type: 'invalid_request_error' };
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
      return;
    }
    const answer = answerTo(request.url ?? '', body, nextCall(body, text, calls), (id += 1));
    response.writeHead(200, { 'content-type': answer.isStream ? 'text/event-stream' : 'application/json' });
    response.end(answer.text);
  });
  return {
    ...{ url, close },
    tools: () => new Set(tools.map(({ name }) => name)),
    strict: () => new Set(tools.flatMap(({ name, isStrict }) => (isStrict ? name : []))),
    heard: () => withoutEscapes(heard.join('\n')),
  };
}
