/**
 * The MCP server, built on the official SDK for modern and legacy revisions, with the handler of each method.
 */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  McpServer,
  type JSONRPCRequest,
  type ListToolsResult,
  type MessageClassification,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { type ErrorBody, internalError } from '@muster/contract';
import { registry } from '@muster/registry';
import { findSimilarNames } from '@muster/http';
import { LRUCache } from 'lru-cache';
import { describeServer } from './about.ts';
import { listAuthoredPaths } from '../answers/authored.ts';
import { callOperation } from '../calls/calls.ts';
import { completeArgument } from './completion.ts';
import { ConfirmationRequired, createConfirmation, type ConfirmationRound } from '../calls/confirming.ts';
import { RequestExchange, type RpcReply } from './exchange.ts';
import { errorBodyOf, failureResult, isUnauthorized } from '../answers/failures.ts';
import { instructionsFor } from './instructions.ts';
import { listResourceLinks } from './links.ts';
import { macros } from '../tools/macros.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { listResources, readResource, templatesFor } from './resources.ts';
import { type CallerIdentity, mayUseTool, rightsCacheKey } from '../tools/rights.ts';
import { type McpSession } from './session.ts';
import { addSkillMethods, readSkillFile, skillsExtension } from './skills.ts';
import { addTaskMethods, isInboxWait, supportsTasks, tasksExtension, waitByTask } from './tasks.ts';
import { type AnyTool, allTools, findTool } from '../tools/toolbox.ts';
import { replayedField } from '../tools/schemas.ts';
import { findOperations } from '../tools/search.ts';
import { shortenTool } from '../tools/short.ts';
import { asInputSchema } from '../tools/tools.ts';
import { type ConnectionView } from '../http/narrowing.ts';
import { readView, supportsHtmlViews, uiExtension, addViewToTool } from '../ui.ts';

/** Legacy revisions, newest first. A client that requests an unknown one is offered the first. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
export const modernVersions = ['2026-07-28'] as const;

const listCacheMillis = 60_000;
const cacheHint = (ttlMs: number) => ({ ttlMs, cacheScope: 'private' as const });

interface ToolList {
  readonly tools: Tool[];
  readonly visibleTools: readonly AnyTool[];
}

/**
 * Cache of tool lists by restrictions and rights. Each list is kept with its JSON text, which takes most of
 * the memory.
 */
const toolListCache = new LRUCache<string, ToolList>({
  ...{ max: 64, maxSize: 32 * 1_024 * 1_024 },
  // The JSON texts of tool lists contain characters beyond Latin-1, so each character takes two bytes.
  sizeCalculation: ({ tools }) => 2 * (cachedToolListText(tools)?.length ?? 0) + 1,
});
const toolListTexts = new WeakMap<readonly Tool[], string>();

export const cachedToolListText = (tools: readonly Tool[]): string | undefined => toolListTexts.get(tools);

const presentTool = (tool: AnyTool, view: ConnectionView): Tool => {
  const whole = view.project === null ? tool.tool : tool.withoutProject;
  const base = view.mode === 'full' ? whole : shortenTool(whole);
  return view.showsOutputSchemas && tool.kind === 'operation'
    ? { ...base, outputSchema: asInputSchema(tool.outputSchema()) }
    : base;
};

/**
 * Returns the tool list of a connection. `hasViews` decides whether tools name the views that render their
 * results.
 */
export function toolListFor(view: ConnectionView, identity: CallerIdentity, hasViews = view.showsHtmlViews) {
  const key = `${rightsCacheKey(identity)} ${view.cacheKey} ${hasViews}`;
  let list = toolListCache.get(key);
  if (list === undefined) {
    const visible = allTools.filter((tool) => view.listsTool(tool) && mayUseTool(tool, identity));
    const tools = visible.map((tool) =>
      hasViews ? addViewToTool(presentTool(tool, view)) : presentTool(tool, view),
    );
    toolListTexts.set(tools, JSON.stringify(tools));
    list = { tools, visibleTools: visible };
    toolListCache.set(key, list);
  }
  return list;
}

const maxSuggestions = 3;

const { acquire, acquireNext, complete, handoff, release } = registry.deliveryExecutions;

/** The work tools that models should call instead of the operation. */
const workToolByOperation: Readonly<Record<string, string>> = {
  [acquire.name]: 'start_work',
  [acquireNext.name]: 'next_work',
  [complete.name]: 'submit_work',
  [handoff.name]: 'hand_off_work',
  [release.name]: 'release_work',
};

/** Returns how the connection can call a tool: by its name, or as an operation; undefined if it cannot. */
function describeCall(tool: AnyTool, view: ConnectionView): string | undefined {
  if (tool.kind !== 'operation') return view.canCallTool(tool) ? tool.name : undefined;
  const workTool = findTool(workToolByOperation[tool.operation.name] ?? '');
  if (workTool !== undefined && view.canCallTool(workTool)) return workTool.name;
  if (view.canCallTool(tool)) return tool.name;
  const callerName = `call_${tool.operation.effect}_operation`;
  const caller = findTool(callerName);
  return caller !== undefined && view.canCallTool(caller) && view.allows(tool)
    ? `${callerName} with ${tool.operation.name}`
    : undefined;
}

/**
 * Suggests tools with a similar name, or tools that match the words of the name: `list_stories`,
 * `create_issue`.
 */
function suggestTools(name: string, view: ConnectionView): string[] {
  const callable = allTools.filter((tool) => view.canCallTool(tool)).map((tool) => tool.name);
  const alike = findSimilarNames(name.replaceAll('.', '_'), callable);
  if (alike.length > 0) return alike;
  const words = name.slice(0, 100).replaceAll(/([a-z])([A-Z])|[._-]+/g, '$1 $2');
  const ofSteps = macros.filter((tool) => tool.name.split('_').includes(words.trim()));
  const calls = [...ofSteps, ...findOperations(words)].flatMap((tool) => describeCall(tool, view) ?? []);
  return [...new Set(calls)].slice(0, maxSuggestions);
}

function unknownToolError(name: string, view: ConnectionView): ProtocolError {
  const near = suggestTools(name, view);
  const search = findTool('search_operations');
  const canSearch = search !== undefined && view.canCallTool(search);
  const hint = [
    near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '',
    canSearch ? ' Use search_operations to find operations by a description.' : '',
  ].join('');
  const tool = findTool(name);
  const why =
    tool === undefined
      ? 'This tool does not exist.'
      : view.allows(tool) && tool.kind === 'operation'
        ? `It is an operation: call it with call_${tool.operation.effect}_operation, as ${tool.operation.name}.`
        : 'It is not available, because this connection is restricted.';
  const message = `Unknown tool "${name.slice(0, 100)}". ${why}${hint}`;
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    message,
    near.length > 0 ? { didYouMean: near } : undefined,
  );
}

/** Converts a failure into a protocol error, for methods whose result cannot carry an error. */
function toProtocolError(failure: unknown, session: McpSession): ProtocolError {
  if (failure instanceof ProtocolError) return failure;
  if (isUnauthorized(failure)) session.onTokenRejected();
  const known = errorBodyOf(failure, session.requestId);
  if (known === undefined) session.onFault(failure);
  const error: ErrorBody = known ?? internalError().toBody(session.requestId);
  const code = error.status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, error.message, { error });
}

/** Returns the result of a failed tool call, which the model reads. */
function failedCallResult(tool: string, failure: unknown, session: McpSession): CallToolResult {
  if (isUnauthorized(failure)) session.onTokenRejected();
  const known = errorBodyOf(failure, session.requestId);
  if (known === undefined) session.onFault(failure);
  const error = known ?? internalError().toBody(session.requestId);
  session.onToolCalled(tool, error);
  return failureResult(error, failure);
}

async function callTool(
  name: string,
  args: Readonly<Record<string, unknown>>,
  session: McpSession,
  round: ConfirmationRound,
) {
  const tool = findTool(name);
  // Report the rate limit in the result, which a model reads. Many clients end the conversation on an HTTP
  // error.
  if (session.rateLimitError !== undefined)
    return failedCallResult(tool?.name ?? 'mcp', session.rateLimitError, session);
  if (tool === undefined || !session.view.canCallTool(tool)) throw unknownToolError(name, session.view);
  try {
    const { transport, putFile, view, intent, identity } = session;
    const mayUseIt = (one: AnyTool): boolean => mayUseTool(one, identity);
    const confirm = createConfirmation(round, transport);
    const call = { transport, putFile, view, intent, mayUse: mayUseIt, confirm, isLean: view.isLean };
    const result =
      tool.kind === 'operation' ? await callOperation(tool, args, call) : await tool.run(args, call);
    session.onToolCalled(tool.name);
    const isReplay = session.isReplay();
    const answer = isReplay ? { ...result, [replayedField]: true } : { ...result };
    const text = { type: 'text' as const, text: JSON.stringify(answer) };
    return {
      content: [text, ...listResourceLinks(answer, args, session.protocolVersion)],
      structuredContent: answer,
      _meta: { 'muster/untrusted': listAuthoredPaths(answer), ...(isReplay && { 'muster/replayed': true }) },
    };
  } catch (failure) {
    if (failure instanceof ConfirmationRequired) return failure.result;
    return failedCallResult(tool.name, failure, session);
  }
}

/** Creates the server for subscriptions/listen, which legacy revisions do not have. */
export const createSubscriptionServer = (): McpServer =>
  new McpServer(describeServer(), { capabilities: { resources: { subscribe: true } } });

/** Returns the client's capabilities. The SDK has validated the envelope but does not type it. */
const clientCapabilitiesOf = (
  envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined,
): ClientCapabilities | undefined => envelope?.[CLIENT_CAPABILITIES_META_KEY];

/** Extracts the data that confirmation needs from a request with several rounds. */
const requestRoundOf = ({ mcpReq }: ServerContext, { requestStateCodec }: McpSession): ConfirmationRound => ({
  capabilities: clientCapabilitiesOf(mcpReq.envelope),
  verifiedState: mcpReq.requestState(),
  responses: mcpReq.inputResponses,
  signState: (state) => requestStateCodec.mint(state),
});

/** Texts in the responses to `initialize` and `server/discover`, in addition to the capabilities. */
interface ServerGreeting {
  readonly website?: string;
  readonly instructions?: string;
}

/** Rejects cursors: every list has a single page and never returns one. */
function rejectCursor({
  params,
}: {
  readonly params?: { readonly cursor?: string | undefined } | undefined;
}): void {
  if (params?.cursor === undefined) return;
  const message = 'cursor: this list has only one page.';
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Creates a server that declares its capabilities and has no handlers yet. */
function createBareServer(
  exchange: RequestExchange,
  era: MessageClassification['era'],
  { website, instructions }: ServerGreeting,
): McpServer {
  return new McpServer(describeServer(website), {
    capabilities: {
      // Lists state how long clients may cache them, so the server does not announce changes. Resource
      // changes go to subscribers.
      tools: { listChanged: false },
      prompts: { listChanged: false },
      resources: { listChanged: false, ...(era === 'modern' && { subscribe: true }) },
      completions: {},
      extensions: {
        ...{ [uiExtension]: {}, [skillsExtension]: {} },
        ...(era === 'modern' && { [tasksExtension]: {} }),
      },
    },
    supportedProtocolVersions: [...modernVersions, ...legacyVersions],
    cacheHints: {
      'tools/list': cacheHint(listCacheMillis),
      'prompts/list': cacheHint(listCacheMillis),
      // A story must appear in the list as soon as the caller starts it.
      'resources/list': cacheHint(0),
      'resources/templates/list': cacheHint(listCacheMillis),
      'server/discover': cacheHint(listCacheMillis),
      // Clients must not cache a resource, because a story may change at any time.
      'resources/read': cacheHint(0),
    },
    requestState: {
      verify: (state, context) =>
        exchange.sessionOf(context.mcpReq.id).requestStateCodec.verify(state, context),
    },
    ...(instructions !== undefined && { instructions }),
  });
}

/** Creates the function that calls tools for the request of this session. */
const toolCaller =
  (session: McpSession, context: ServerContext) => (name: string, args: Readonly<Record<string, unknown>>) =>
    callTool(name, args, session, requestRoundOf(context, session));

interface ToolCallRequest {
  readonly params: {
    readonly name: string;
    readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  };
}

/** Answers a tool call. If it waits for the inbox and the client supports tasks, the answer may be a task. */
function answerToolCall({ params }: ToolCallRequest, session: McpSession, context: ServerContext) {
  const { name, arguments: args = {} } = params;
  const call = toolCaller(session, context);
  const isByTask = isInboxWait(name, args) && supportsTasks(clientCapabilitiesOf(context.mcpReq.envelope));
  return isByTask ? waitByTask(args, session, call) : call(name, args);
}

interface ListRequest {
  readonly params?: { readonly cursor?: string | undefined } | undefined;
}

/** Creates a server whose handlers find their session by the number of the request. */
function createServer(
  exchange: RequestExchange,
  era: MessageClassification['era'],
  greeting: ServerGreeting,
): McpServer {
  const mcp = createBareServer(exchange, era, greeting);
  const { server } = mcp;
  const answering =
    <Request, Result>(
      answer: (request: Request, session: McpSession, context: ServerContext) => Promise<Result>,
    ) =>
    async (request: Request, context: ServerContext): Promise<Result> => {
      const session = exchange.sessionOf(context.mcpReq.id);
      try {
        return await answer(request, session, context);
      } catch (failure) {
        throw toProtocolError(failure, session);
      }
    };
  const listing = <Result>(list: (session: McpSession, context: ServerContext) => Promise<Result> | Result) =>
    answering(async (request: ListRequest, session, context): Promise<Result> => {
      rejectCursor(request);
      return list(session, context);
    });
  server.setRequestHandler(
    'tools/list',
    listing(({ view, identity }, { mcpReq }): ListToolsResult => {
      const hasViews = view.showsHtmlViews || supportsHtmlViews(clientCapabilitiesOf(mcpReq.envelope));
      return { tools: toolListFor(view, identity, hasViews).tools };
    }),
  );
  server.setRequestHandler('tools/call', answering(answerToolCall));
  server.setRequestHandler(
    'prompts/list',
    listing((session) => listPrompts(session)),
  );
  server.setRequestHandler(
    'prompts/get',
    answering(
      ({ params }: { params: { name: string; arguments?: Record<string, string> | undefined } }, session) =>
        getPrompt(params.name, params.arguments ?? {}, session),
    ),
  );
  server.setRequestHandler(
    'resources/list',
    listing(async (session) => ({ resources: await listResources(session) })),
  );
  server.setRequestHandler(
    'resources/templates/list',
    listing((session) => ({ resourceTemplates: templatesFor(session) })),
  );
  server.setRequestHandler(
    'resources/read',
    answering(async ({ params: { uri } }: { params: { uri: string } }, session) => {
      const contents = readView(uri) ?? readSkillFile(uri) ?? (await readResource(uri, session));
      if (contents === undefined) throw new ResourceNotFoundError(uri);
      return { contents };
    }),
  );
  server.setRequestHandler(
    'completion/complete',
    answering(async ({ params }: { params: Parameters<typeof completeArgument>[0] }, session) => ({
      completion: await completeArgument(params, session),
    })),
  );
  addSkillMethods(mcp);
  if (era === 'modern') addTaskMethods(mcp, ({ mcpReq }) => exchange.sessionOf(mcpReq.id), toolCaller);
  return mcp;
}

/** Methods that describe the server. Their responses depend on the caller. */
const handshakeMethods: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

export interface McpHandler {
  handleRequest(
    message: JSONRPCRequest,
    classification: MessageClassification,
    session: McpSession,
  ): Promise<RpcReply>;
}

/** Creates the MCP handler. `website` is the sign-in page. */
export async function createMcp(website?: string): Promise<McpHandler> {
  const connected = async (
    classification: MessageClassification,
    instructions?: string,
  ): Promise<RequestExchange> => {
    const exchange = new RequestExchange(classification);
    const greeting = {
      ...(website !== undefined && { website }),
      ...(instructions !== undefined && { instructions }),
    };
    await createServer(exchange, classification.era, greeting).connect(exchange);
    return exchange;
  };
  const legacy = await connected({ era: 'legacy' });
  const modern = new Map(
    await Promise.all(
      modernVersions.map(
        async (revision) => [revision as string, await connected({ era: 'modern', revision })] as const,
      ),
    ),
  );
  return {
    handleRequest: async (message, classification, session) => {
      if (handshakeMethods.has(message.method)) {
        const { identity, view } = session;
        const { visibleTools } = toolListFor(view, identity);
        const exchange = await connected(classification, instructionsFor(identity, view, visibleTools));
        return exchange.ask(message, session);
      }
      const exchange = classification.era === 'legacy' ? legacy : modern.get(classification.revision ?? '');
      if (exchange === undefined)
        throw new Error(`unsupported protocol version ${String(classification.revision)}`);
      return exchange.ask(message, session);
    },
  };
}
