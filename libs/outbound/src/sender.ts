/**
 * HTTP requests to addresses that users chose. The host name is resolved once per connection, all of its
 * addresses must be allowed, and the connection uses one of them. A second lookup, which could answer
 * differently (DNS rebinding), is never made. Redirects are not followed, proxies are not used, and the
 * number of bytes that are read of an answer is limited.
 */
import { lookup as lookUp } from 'node:dns/promises';
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type LookupFunction } from 'node:net';
import {
  type AllowedDestination,
  destinationOf,
  type AllowedNetwork,
  addressRefusalReason,
} from './addresses.ts';

/** The default timeout from the DNS lookup to the end of the answer. */
const defaultTimeoutSeconds = 10;
const maxPostAnswerBytes = 64 * 1024;
const maxKeptAnswerBytes = 2 * 1024;
/**
 * The limit for answers that are read completely. A pull request with all its details is about 30 KiB at a
 * forge.
 */
const maxWholeAnswerBytes = 1024 * 1024;
/** The time after which an idle connection is closed. */
const idleConnectionMillis = 4_000;
const maxIdleConnections = 64;

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface SenderOptions {
  readonly networks: readonly AllowedNetwork[];
  /** Returns all addresses of a host name; the resolver of the operating system by default. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>;
  /** The timeout in seconds from the DNS lookup to the end of the answer. */
  readonly timeoutSeconds?: number;
  /**
   * The certificate authorities that the sender trusts, as PEM. By default, the sender trusts those that Node
   * trusts.
   */
  readonly ca?: string;
}

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ReceivedResponse {
  readonly status: number;
  /** The first 2 KiB of the body, or all of it for `ask`. */
  readonly text: string;
  /** The headers by their names in lower case. */
  readonly headers: IncomingHttpHeaders;
}

export interface OutboundRequest extends Omit<PostRequest, 'body'> {
  readonly method: 'GET' | 'POST';
  readonly body?: string;
  /** The size in bytes above which `ask` throws; 1 MiB by default. */
  readonly maxAnswerBytes?: number;
}

export interface Sender {
  /** Returns the response, whatever its status. Throws if none came or nothing was sent. */
  post(post: PostRequest): Promise<ReceivedResponse>;
  /** Sends a request like `post` and returns the whole text. Throws if it is longer than `maxAnswerBytes`. */
  ask(request: OutboundRequest): Promise<ReceivedResponse>;
  close(): void;
}

/** The request was not sent, because its address is forbidden. */
export class ForbiddenAddress extends Error {
  constructor(reason: string) {
    super(`not sent: the address points to ${reason}`);
    this.name = 'ForbiddenAddress';
  }
}

const resolveBySystem = (host: string): Promise<readonly ResolvedAddress[]> =>
  lookUp(host, { all: true, order: 'verbatim' });

/** Resolves a host name, or fails if a single one of its addresses is forbidden. */
const guardedLookup =
  ({ networks, resolve = resolveBySystem }: SenderOptions, destination: AllowedDestination): LookupFunction =>
  (host, options, callback) => {
    const answer = async (): Promise<ResolvedAddress[]> => {
      const addresses = await resolve(host);
      for (const { address } of addresses) {
        const refused = addressRefusalReason(address, destination, networks);
        if (refused !== null) throw new ForbiddenAddress(refused);
      }
      return [...addresses];
    };
    answer().then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) callback(new Error(`${host} does not resolve to an IP address`), '', 4);
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error as NodeJS.ErrnoException, '', 4);
      },
    );
  };

async function readAnswer(
  response: IncomingMessage,
  { isWhole, maxAnswerBytes = maxWholeAnswerBytes }: Pick<PreparedRequest, 'isWhole' | 'maxAnswerBytes'>,
): Promise<ReceivedResponse> {
  const [kept, read] = isWhole ? [maxAnswerBytes, maxAnswerBytes] : [maxKeptAnswerBytes, maxPostAnswerBytes];
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Stop reading an answer that is too long. Its connection is closed.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes < kept) chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > read) break;
  }
  if (isWhole && bytes > read) throw new Error('the response is larger than the limit');
  const text = cleanText(Buffer.concat(chunks).subarray(0, kept));
  return { status: response.statusCode ?? 0, text, headers: response.headers };
}

/** Decodes text that the database accepts: without NUL and without a character that was cut at the limit. */
const cleanText = (bytes: Buffer): string =>
  bytes
    .toString('utf8')
    .replaceAll('\0', '\uFFFD')
    .replace(/\uFFFD$/, '')
    .toWellFormed();

/**
 * Detects that the receiver closed an idle connection at the moment of its reuse, so that nothing was
 * answered.
 */
const isStaleConnection = (request: ClientRequest, error: unknown): boolean =>
  request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');

interface PreparedRequest extends OutboundRequest {
  /** True to read the complete response, or fail if it is too large; false to keep only its beginning. */
  readonly isWhole: boolean;
}

export function createSender(options: SenderOptions): Sender {
  const { timeoutSeconds = defaultTimeoutSeconds, ca } = options;
  const common = { keepAlive: true, timeout: idleConnectionMillis, maxFreeSockets: maxIdleConnections };
  const agents = {
    'http:': new HttpAgent(common),
    'https:': new HttpsAgent(common),
  };

  const once = (
    asked: PreparedRequest,
    signal: AbortSignal,
    agent: HttpAgent | false,
  ): Promise<ReceivedResponse> => {
    const { url, method, headers, body } = asked;
    const { isAddress, host, ...destination } = destinationOf(url);
    if (isAddress) {
      // Node does not call the lookup function for an IP address in the URL.
      const refused = addressRefusalReason(host, destination, options.networks);
      if (refused !== null) return Promise.reject(new ForbiddenAddress(refused));
    }
    const send = destination.protocol === 'https:' ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const request = send(url, {
        ...{ method, agent, signal, lookup: guardedLookup(options, destination) },
        ...(ca !== undefined && { ca }),
        headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      });
      request.on('error', (error) => {
        if (isStaleConnection(request, error) && agent !== false) resolve(once(asked, signal, false));
        else reject(signal.aborted ? new Error(`no response within ${timeoutSeconds} s`) : error);
      });
      request.on('response', (response) => {
        readAnswer(response, asked).then(resolve, (error: unknown) => {
          reject(
            signal.aborted ? new Error(`no complete response within ${timeoutSeconds} s`) : (error as Error),
          );
        });
      });
      request.end(body);
    });
  };

  const send = (asked: PreparedRequest): Promise<ReceivedResponse> =>
    once(asked, AbortSignal.timeout(timeoutSeconds * 1_000), agents[destinationOf(asked.url).protocol]);
  return {
    post: (post) => send({ ...post, method: 'POST', isWhole: false }),
    ask: (request) => send({ ...request, isWhole: true }),
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
