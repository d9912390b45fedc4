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
import { type ErrorBody, internal } from '@muster/registry';
import { closestTo } from '@muster/http';
import { LRUCache } from 'lru-cache';
import { aboutServer } from './about.ts';
import { authoredIn } from '../answers/authored.ts';
import { callOperation } from '../calls/calls.ts';
import { complete } from './completion.ts';
import { Asking, confirmBy, type Round } from '../calls/confirming.ts';
import { Exchange, type Reply } from './exchange.ts';
import { errorBodyOf, failureResult, isUnauthorized } from '../answers/failures.ts';
import { instructionsFor } from './instructions.ts';
import { linksIn } from './links.ts';
import { macros } from '../tools/macros.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { listResources, readResource, templatesFor } from './resources.ts';
import { type CallerIdentity, mayUse, rightsKey } from '../tools/rights.ts';
import { type McpSession } from './session.ts';
import { type AnyTool, everyTool, findTool } from '../tools/toolbox.ts';
import { replayedField } from '../tools/schemas.ts';
import { findOperations } from '../tools/search.ts';
import { shortened } from '../tools/short.ts';
import { asInputSchema } from '../tools/tools.ts';
import { type View } from '../http/narrowing.ts';
import { readView, showsViews, uiExtension, withView } from '../ui.ts';

/** Legacy revisions, newest first. A client that requests an unknown one is offered the first. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
export const modernVersions = ['2026-07-28'] as const;

const listMillis = 60_000;
const keptFor = (ttlMs: number) => ({ ttlMs, cacheScope: 'private' as const });

interface List {
  readonly tools: Tool[];
  readonly visible: readonly AnyTool[];
}

/**
 * Cache of tool lists by restrictions and rights. Each list is kept with its JSON text, which takes most of
 * the memory.
 */
const lists = new LRUCache<string, List>({
  ...{ max: 64, maxSize: 32 * 1_024 * 1_024 },
  // The JSON texts of tool lists contain characters beyond Latin-1, so each character takes two bytes.
  sizeCalculation: ({ tools }) => 2 * (textOf(tools)?.length ?? 0) + 1,
});
const textOfTools = new WeakMap<readonly Tool[], string>();

export const textOf = (tools: readonly Tool[]): string | undefined => textOfTools.get(tools);

const shown = (tool: AnyTool, view: View): Tool => {
  const whole = view.project === null ? tool.tool : tool.withoutProject;
  const base = view.mode === 'full' ? whole : shortened(whole);
  return view.showsOutput && tool.kind === 'operation'
    ? { ...base, outputSchema: asInputSchema(tool.outputSchema()) }
    : base;
};

/**
 * Returns the tool list of a connection. `hasViews` decides whether tools name the views that render their
 * results.
 */
export function listFor(view: View, identity: CallerIdentity, hasViews = view.showsApps) {
  const key = `${rightsKey(identity)} ${view.key} ${hasViews}`;
  let list = lists.get(key);
  if (list === undefined) {
    const visible = everyTool.filter((tool) => view.lists(tool) && mayUse(tool, identity));
    const tools = visible.map((tool) => (hasViews ? withView(shown(tool, view)) : shown(tool, view)));
    textOfTools.set(tools, JSON.stringify(tools));
    list = { tools, visible };
    lists.set(key, list);
  }
  return list;
}

const mostSuggestions = 3;

/**
 * Suggests tools with a similar name, or tools that match the words of the name: `list_stories`,
 * `create_issue`.
 */
function toolsLike(name: string, view: View): string[] {
  const callable = everyTool.filter((tool) => view.calls(tool)).map((tool) => tool.name);
  const alike = closestTo(name.replaceAll('.', '_'), callable);
  if (alike.length > 0) return alike;
  const words = name.slice(0, 100).replaceAll(/([a-z])([A-Z])|[._-]+/g, '$1 $2');
  const ofSteps = macros.filter((tool) => tool.name.split('_').includes(words.trim()));
  return [...ofSteps, ...findOperations(words)]
    .filter((tool) => view.calls(tool))
    .slice(0, mostSuggestions)
    .map((tool) => tool.name);
}

function unknownTool(name: string, view: View): ProtocolError {
  const near = toolsLike(name, view);
  const search = findTool('search_operations');
  const canSearch = search !== undefined && view.calls(search);
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
function protocolError(failure: unknown, session: McpSession): ProtocolError {
  if (failure instanceof ProtocolError) return failure;
  if (isUnauthorized(failure)) session.refused();
  const known = errorBodyOf(failure, session.requestId);
  if (known === undefined) session.fault(failure);
  const error: ErrorBody = known ?? internal().toBody(session.requestId);
  const code = error.status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, error.message, { error });
}

/** Returns the result of a failed tool call, which the model reads. */
function failedCall(tool: string, failure: unknown, session: McpSession): CallToolResult {
  if (isUnauthorized(failure)) session.refused();
  const known = errorBodyOf(failure, session.requestId);
  if (known === undefined) session.fault(failure);
  const error = known ?? internal().toBody(session.requestId);
  session.called(tool, error);
  return failureResult(error, failure);
}

async function callTool(
  name: string,
  args: Readonly<Record<string, unknown>>,
  session: McpSession,
  round: Round,
) {
  const tool = findTool(name);
  // Report the rate limit in the result, which a model reads. Many clients end the conversation on an HTTP
  // error.
  if (session.overload !== undefined) return failedCall(tool?.name ?? 'mcp', session.overload, session);
  if (tool === undefined || !session.view.calls(tool)) throw unknownTool(name, session.view);
  try {
    const { transport, view, intent, identity } = session;
    const mayUseIt = (one: AnyTool): boolean => mayUse(one, identity);
    const confirm = confirmBy(round, transport);
    const call = { transport, view, intent, mayUse: mayUseIt, confirm };
    const result =
      tool.kind === 'operation' ? await callOperation(tool, args, call) : await tool.run(args, call);
    session.called(tool.name);
    const isReplay = session.isReplay();
    const answer = isReplay ? { ...result, [replayedField]: true } : { ...result };
    const text = { type: 'text' as const, text: JSON.stringify(answer) };
    return {
      content: [text, ...linksIn(answer, args, session.version)],
      structuredContent: answer,
      _meta: { 'muster/untrusted': authoredIn(answer), ...(isReplay && { 'muster/replayed': true }) },
    };
  } catch (failure) {
    if (failure instanceof Asking) return failure.result;
    return failedCall(tool.name, failure, session);
  }
}

/** Creates the server for subscriptions/listen, which legacy revisions do not have. */
export const subscribableServer = (): McpServer =>
  new McpServer(aboutServer(), { capabilities: { resources: { subscribe: true } } });

/** Returns the client's capabilities. The SDK has validated the envelope but does not type it. */
const capabilitiesIn = (
  envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined,
): ClientCapabilities | undefined => envelope?.[CLIENT_CAPABILITIES_META_KEY];

/** Extracts the data that confirmation needs from a request with several rounds. */
const roundOf = ({ mcpReq }: ServerContext, { codec }: McpSession): Round => ({
  capabilities: capabilitiesIn(mcpReq.envelope),
  state: mcpReq.requestState(),
  responses: mcpReq.inputResponses,
  seal: (state) => codec.mint(state),
});

/** Texts in the responses to `initialize` and `server/discover`, in addition to the capabilities. */
interface Greeting {
  readonly website?: string;
  readonly instructions?: string;
}

/** Rejects cursors: every list has a single page and never returns one. */
function refuseCursor({
  params,
}: {
  readonly params?: { readonly cursor?: string | undefined } | undefined;
}): void {
  if (params?.cursor === undefined) return;
  const message = 'cursor: this list has only one page.';
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Creates a server that declares its capabilities and has no handlers yet. */
function bareServer(
  exchange: Exchange,
  era: MessageClassification['era'],
  { website, instructions }: Greeting,
): McpServer {
  return new McpServer(aboutServer(website), {
    capabilities: {
      // Lists state how long clients may cache them, so the server does not announce changes. Resource
      // changes go to subscribers.
      tools: { listChanged: false },
      prompts: { listChanged: false },
      resources: { listChanged: false, ...(era === 'modern' && { subscribe: true }) },
      completions: {},
      extensions: { [uiExtension]: {} },
    },
    supportedProtocolVersions: [...modernVersions, ...legacyVersions],
    cacheHints: {
      'tools/list': keptFor(listMillis),
      'prompts/list': keptFor(listMillis),
      // A story must appear in the list as soon as the caller starts it.
      'resources/list': keptFor(0),
      'resources/templates/list': keptFor(listMillis),
      'server/discover': keptFor(listMillis),
      // Clients must not cache a resource, because a story may change at any time.
      'resources/read': keptFor(0),
    },
    requestState: {
      verify: (state, context) => exchange.sessionOf(context.mcpReq.id).codec.verify(state, context),
    },
    ...(instructions !== undefined && { instructions }),
  });
}

/** Creates a server whose handlers find their session by the number of the request. */
function createServer(exchange: Exchange, era: MessageClassification['era'], greeting: Greeting): McpServer {
  const mcp = bareServer(exchange, era, greeting);
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
        throw protocolError(failure, session);
      }
    };
  const listing = <Result>(list: (session: McpSession, context: ServerContext) => Promise<Result> | Result) =>
    answering(
      async (
        request: { readonly params?: { readonly cursor?: string | undefined } | undefined },
        session,
        context,
      ): Promise<Result> => {
        refuseCursor(request);
        return list(session, context);
      },
    );
  server.setRequestHandler(
    'tools/list',
    listing(({ view, identity }, { mcpReq }): ListToolsResult => {
      const hasViews = view.showsApps || showsViews(capabilitiesIn(mcpReq.envelope));
      return { tools: listFor(view, identity, hasViews).tools };
    }),
  );
  server.setRequestHandler(
    'tools/call',
    answering(
      (
        { params }: { params: { name: string; arguments?: Record<string, unknown> | undefined } },
        session,
        context,
      ) => callTool(params.name, params.arguments ?? {}, session, roundOf(context, session)),
    ),
  );
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
      const contents = readView(uri) ?? (await readResource(uri, session));
      if (contents === undefined) throw new ResourceNotFoundError(uri);
      return { contents };
    }),
  );
  server.setRequestHandler(
    'completion/complete',
    answering(async ({ params }: { params: Parameters<typeof complete>[0] }, session) => ({
      completion: await complete(params, session),
    })),
  );
  return mcp;
}

/** Methods that describe the server. Their responses depend on the caller. */
const greetings: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

export interface Mcp {
  ask(message: JSONRPCRequest, classification: MessageClassification, session: McpSession): Promise<Reply>;
}

/** Creates the MCP handler. `website` is the sign-in page. */
export async function createMcp(website?: string): Promise<Mcp> {
  const connected = async (
    classification: MessageClassification,
    instructions?: string,
  ): Promise<Exchange> => {
    const exchange = new Exchange(classification);
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
    ask: async (message, classification, session) => {
      if (greetings.has(message.method)) {
        const { identity, view } = session;
        const { visible } = listFor(view, identity);
        const exchange = await connected(classification, instructionsFor(identity, view, visible));
        return exchange.ask(message, session);
      }
      const exchange = classification.era === 'legacy' ? legacy : modern.get(classification.revision ?? '');
      if (exchange === undefined)
        throw new Error(`unsupported protocol version ${String(classification.revision)}`);
      return exchange.ask(message, session);
    },
  };
}
