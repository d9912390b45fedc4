/**
 * Builds the response of a failed request: the error object of the contract, even for input that is not yet a
 * request.
 */
import { type Socket } from 'node:net';
import { type ApiError, malformedRequest, payloadTooLarge, unsupportedMediaType } from '@muster/contract';
import { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type RenderedPage, sendRenderedPage } from './page.ts';
import { newRequestId } from './request-id.ts';

/** Converts Fastify's own refusals to errors of the contract; undefined for all other errors. */
export function fromFrameworkError(error: unknown): ApiError | undefined {
  switch ((error as Partial<FastifyError>).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return payloadTooLarge('body_too_large');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return unsupportedMediaType();
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
      return malformedRequest('malformed_request', 'The request is malformed.');
    default:
      return undefined;
  }
}

/**
 * Reports a caller that disconnected before its body was complete. It is no fault of the service, and the
 * response reaches no caller.
 */
const incompleteBodyError = (): ApiError =>
  malformedRequest('malformed_request', 'The body ended before its stated length.');

/**
 * Builds the WWW-Authenticate header of a 401. Clients of MCP need more than the scheme (RFC 6750, section
 * 3): it states whether an invalid token was sent.
 */
function authenticateHeaderOf({ headers, routeOptions }: FastifyRequest, { message }: ApiError): string {
  if (routeOptions.config.isForMcp !== true) return 'Bearer';
  const realm = 'Bearer realm="Muster"';
  return headers.authorization === undefined
    ? realm
    : `${realm}, error="invalid_token", error_description="${message}"`;
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' };

export function sendError(
  reply: FastifyReply,
  error: ApiError,
  requestId: string,
  page: RenderedPage = { headers: jsonHeaders, body: JSON.stringify(error.toBody(requestId)) },
): FastifyReply {
  reply.request.error = error;
  // A hook sets this header for other requests. No hook runs for a request that the framework itself refuses.
  reply.header('x-request-id', requestId);
  if (error.code === 'unauthorized')
    reply.header('www-authenticate', authenticateHeaderOf(reply.request, error));
  if (error.code === 'method_not_allowed') reply.header('allow', 'POST');
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter));
  return sendRenderedPage(reply, page, page.status ?? error.status);
}

const errorsByParserCode: Readonly<Record<string, () => ApiError>> = {
  HPE_HEADER_OVERFLOW: () => malformedRequest('headers_too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: () => malformedRequest('request_too_slow'),
};

/**
 * Answers malformed HTTP directly on the socket, since there is no request yet. A connection that a browser
 * opened in advance gets no response. The browser would take it for the response to its first request there.
 */
export function answerMalformedHttp(socket: Socket, error: { code?: string }): void {
  if (!socket.writable || socket.bytesRead === 0 || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal =
    errorsByParserCode[error.code ?? '']?.() ??
    malformedRequest('malformed_request', 'The request is malformed.');
  const requestId = newRequestId();
  const body = JSON.stringify(refusal.toBody(requestId));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nX-Request-Id: ${requestId}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Renders an error in another form than that of the contract, such as a page for browsers; undefined otherwise. */
export type RenderErrorPage = (request: FastifyRequest, error: ApiError) => RenderedPage | undefined;

/** True for a browser that opens a page or sends a form. Programs accept anything, or JSON. */
export const acceptsHtml = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.includes('text/html') === true;

const errorTitlesByStatus: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Page not found',
  413: 'File too large',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
};

/** The heading of a page that shows an error of this status. */
export const errorTitle = (status: number): string => errorTitlesByStatus[status] ?? 'Something went wrong';

/**
 * Answers any thrown error. `toApiError` converts errors that neither the framework nor the connection
 * explains.
 */
export const createErrorHandler =
  (toApiError: (error: unknown) => ApiError, logger: Logger, renderErrorPage?: RenderErrorPage) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const known =
      fromFrameworkError(error) ??
      (error === request.raw.errored ? incompleteBodyError() : toApiError(error));
    if (known.code === 'internal')
      logger.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
    void sendError(reply, known, request.id, renderErrorPage?.(request, known));
  };
