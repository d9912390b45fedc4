/** `POST /api/mcp` and `/api/a2a`: checks the HTTP request before the protocol handles its message. */
import { ApiError, bulkBodyLimitBytes } from '@muster/contract';
import {
  classifyInboundRequest,
  type InboundModernRoute,
  type JSONRPCRequest,
  ProtocolErrorCode,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server';
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { addA2aRoute } from '../a2a/route.ts';
import { answerRequest } from './answering.ts';
import { RequestGate, type RequestGateOptions, headerOf } from './door.ts';
import { createViewReader, queryByPathSuffix, type ConnectionView } from './narrowing.ts';
import { allowOrigins, originGuard, type OriginRules } from './origins.ts';
import { dropRequestNulls } from '../calls/repair.ts';
import { messageIdOf, sendJsonRpcError } from './replies.ts';
import { legacyVersions, modernVersions } from '../protocol/server.ts';
import { findHeaderFault, headerMismatchCode } from './standard-headers.ts';
import { subscribe } from '../protocol/subscribing.ts';

export interface McpRouteOptions extends RequestGateOptions {
  readonly originRules: OriginRules;
}

export const mcpPath = '/api/mcp';
const rejectedMethods = ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'] as const;

/** Answers errors that have a JSON-RPC code. The service's own error handler answers all others. */
function errorHandler(error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof ApiError) || error.code !== 'bad_request') throw error;
  const isNoJson = error.details.reason === 'invalid_json';
  const code = isNoJson ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest;
  const issues = (error.details.issues ?? []).map(({ path: where, message }) => `${where}: ${message}`);
  const message = [error.message, ...issues].join(' ');
  void sendJsonRpcError(
    reply,
    400,
    { code, message, data: error.toBody(request.id) },
    messageIdOf(request.body),
  );
}

const sendInvalidRequest = (
  reply: FastifyReply,
  status: number,
  message: string,
  id: ReturnType<typeof messageIdOf> = null,
): FastifyReply => sendJsonRpcError(reply, status, { code: ProtocolErrorCode.InvalidRequest, message }, id);

function classifyRequest(request: FastifyRequest) {
  const { body } = request;
  const [version, mcpMethod, mcpName] = ['mcp-protocol-version', 'mcp-method', 'mcp-name'].map((name) =>
    headerOf(request, name),
  );
  return classifyInboundRequest({
    httpMethod: 'POST',
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(mcpMethod !== undefined && { mcpMethodHeader: mcpMethod }),
    ...(mcpName !== undefined && { mcpNameHeader: mcpName }),
    ...(body !== undefined && { body }),
  });
}

interface ReceivedRequest {
  readonly request: FastifyRequest;
  readonly view: ConnectionView;
  readonly stopSignal: AbortSignal;
}

/** Handles a message of the 2026-07-28 revision. */
function handleModernMessage(
  gate: RequestGate,
  reply: FastifyReply,
  { request, view, stopSignal }: ReceivedRequest,
  { classification, ...inbound }: InboundModernRoute,
): FastifyReply | Promise<FastifyReply> {
  const { headers, body } = request;
  const { revision } = classification;
  if (!modernVersions.some((known) => known === revision)) {
    // Name only modern versions. A client negotiates older versions with `initialize`. `server/discover`
    // names the same modern versions.
    const supported = [...modernVersions];
    const error = new UnsupportedProtocolVersionError({ supported, requested: revision ?? 'unknown' });
    return sendJsonRpcError(reply, 400, error, messageIdOf(body));
  }
  if (inbound.messageKind === 'notification') return reply.code(202).send();
  const { message } = inbound;
  const fault = findHeaderFault(message, headers);
  if (fault !== undefined)
    return sendJsonRpcError(reply, 400, { code: headerMismatchCode, message: fault }, message.id);
  if (message.method === 'subscriptions/listen')
    return subscribe(gate, reply, { request, message, view, stopSignal });
  return answerRequest(gate, reply, { request, message, classification, view });
}

/** Returns true if the header names a protocol version that this server does not support. */
const isUnsupportedVersion = (version: string | undefined): version is string =>
  version !== undefined && !legacyVersions.some((known) => known === version);

function handleMessage(
  gate: RequestGate,
  reply: FastifyReply,
  received: ReceivedRequest,
): FastifyReply | Promise<FastifyReply> {
  const { request, view } = received;
  const { body } = request;
  if (Array.isArray(body))
    return sendInvalidRequest(reply, 400, 'Batches are not supported: send one message per request.');
  const inbound = classifyRequest(request);
  if (inbound.kind === 'reject')
    return sendJsonRpcError(reply, inbound.httpStatus, inbound, messageIdOf(body));
  if (inbound.kind === 'modern') return handleModernMessage(gate, reply, received, inbound);
  // Notifications need no action. The server never sends requests, so there is nothing to respond to.
  if (inbound.reason === 'notification' || inbound.reason === 'response') return reply.code(202).send();
  const version = headerOf(request, 'mcp-protocol-version');
  if (inbound.reason === 'no-claim' && isUnsupportedVersion(version)) {
    const spoken = [...modernVersions, ...legacyVersions].join(', ');
    const message = `This server does not support protocol version "${version.slice(0, 40)}"; it supports ${spoken}.`;
    return sendInvalidRequest(reply, 400, message, messageIdOf(body));
  }
  const message = body as JSONRPCRequest;
  return answerRequest(gate, reply, { request, message, classification: { era: 'legacy' }, view });
}

export function addMcpRoute(app: FastifyInstance, { originRules, ...options }: McpRouteOptions): void {
  const door = new RequestGate(options);
  const guard = originGuard(originRules);
  const readView = createViewReader();
  const stopping = new AbortController();
  app.addHook('preClose', async () => {
    stopping.abort();
  });
  app.decorateRequest('mcpCaller', null);
  allowOrigins(app, originRules);

  const config = { isForMcp: true };
  const admit =
    (isMcp: boolean) =>
    async (request: FastifyRequest): Promise<void> => {
      guard(request.headers);
      await door.authenticate(request, isMcp);
    };
  const onRequest = admit(true);
  addA2aRoute(app, { gate: door, onRequest: admit(false), stopSignal: stopping.signal });
  const handlerOf =
    (inPath: string | undefined) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      // Take everything after the first question mark. Further question marks are part of the query.
      const query = /\?(.*)$/s.exec(request.url)?.[1];
      const view = readView([inPath, query].filter(Boolean).join('&'), request.headers);
      request.body = dropRequestNulls(request.body);
      return handleMessage(door, reply, { request, view, stopSignal: stopping.signal });
    };
  const ends = ['', ...Object.keys(queryByPathSuffix)].flatMap((end) => [
    [end, ''] as const,
    [end, '/'] as const,
  ]);
  for (const [end, slash] of ends) {
    const url = mcpPath + end + slash;
    app.post(
      url,
      { onRequest, errorHandler, config, bodyLimit: bulkBodyLimitBytes },
      handlerOf(queryByPathSuffix[end]),
    );
    app.route({
      method: [...rejectedMethods],
      url,
      config,
      // A client whose POST was rejected tries GET next, and shows the error text of the GET response.
      onRequest: async (request) =>
        request.method === 'OPTIONS' ? guard(request.headers) : onRequest(request),
      handler: (_request, reply) =>
        sendInvalidRequest(
          reply.header('allow', 'POST'),
          405,
          'This server has no sessions, so it supports only POST.',
        ),
    });
  }
}
