/**
 * Requests to addresses that strangers chose. The name is looked up once for a connection, every address that it has must
 * be one that may be sent to, and the connection goes to those: no second look-up could say otherwise. Nothing is followed,
 * no proxy is asked, and no answer is read beyond what is kept and counted.
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
import { type Destination, destinationOf, type NamedNetwork, refusedAddress } from './addresses.ts';

/** From the first look at the name to the end of the answer, unless told. */
const usualSeconds = 10;
const mostAnswerBytes = 64 * 1024;
const mostKeptBytes = 2 * 1024;
/** Of an answer that is read: a pull request with all that a forge says of it is some 30 KiB. */
const mostReadBytes = 1024 * 1024;
/** A connection on which nothing is sent is closed after so long. */
const idleMillis = 4_000;
const mostIdleConnections = 64;

export interface Address {
  readonly address: string;
  readonly family: number;
}

export interface SenderOptions {
  readonly networks: readonly NamedNetwork[];
  /** All addresses of a name; the machine's own resolver unless told. */
  readonly resolve?: (host: string) => Promise<readonly Address[]>;
  /** From the first look at the name to the end of the answer. */
  readonly seconds?: number;
  /** Who vouches for receivers, as PEM; those that Node trusts unless told. */
  readonly ca?: string;
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Answered {
  readonly status: number;
  /** Its first 2 KiB. */
  readonly text: string;
  /** By their names in lower case. */
  readonly headers: IncomingHttpHeaders;
}

export interface Request extends Omit<Post, 'body'> {
  readonly method: 'GET' | 'POST';
  readonly body?: string;
}

export interface Sender {
  /** Answers what came back, whatever its status. Throws where nothing did, or nothing was sent. */
  post(post: Post): Promise<Answered>;
  /** The same, for an answer that is read: its text is whole. Throws for one of more than 1 MiB, too. */
  ask(request: Request): Promise<Answered>;
  close(): void;
}

/** Nothing was sent: it leads where nothing may be sent to. */
export class ForbiddenAddress extends Error {
  constructor(refused: string) {
    super(`not sent: it leads to ${refused}`);
    this.name = 'ForbiddenAddress';
  }
}

const machineResolver = (host: string): Promise<readonly Address[]> =>
  lookUp(host, { all: true, order: 'verbatim' });

/** A look-up that answers what may be connected to, or fails: one address that may not be spoils them all. */
const guardedLookup =
  ({ networks, resolve = machineResolver }: SenderOptions, destination: Destination): LookupFunction =>
  (host, options, callback) => {
    const answer = async (): Promise<Address[]> => {
      const addresses = await resolve(host);
      for (const { address } of addresses) {
        const refused = refusedAddress(address, destination, networks);
        if (refused !== null) throw new ForbiddenAddress(refused);
      }
      return [...addresses];
    };
    answer().then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) callback(new Error(`${host} has no address`), '', 4);
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error as NodeJS.ErrnoException, '', 4);
      },
    );
  };

async function readAnswer(response: IncomingMessage, isWhole: boolean): Promise<Answered> {
  const [kept, read] = isWhole ? [mostReadBytes, mostReadBytes] : [mostKeptBytes, mostAnswerBytes];
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The rest of what is too long is not waited for: its connection is closed.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes < kept) chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > read) break;
  }
  if (isWhole && bytes > read) throw new Error('the answer is longer than what is read of one');
  const text = cleanText(Buffer.concat(chunks).subarray(0, kept));
  return { status: response.statusCode ?? 0, text, headers: response.headers };
}

/** As the database takes it: no NUL, and no character that was cut. */
const cleanText = (bytes: Buffer): string =>
  bytes
    .toString('utf8')
    .replaceAll('\0', '\uFFFD')
    .replace(/\uFFFD$/, '')
    .toWellFormed();

/** The receiver closed a connection that was kept, at the moment in which it was used again: nothing was answered. */
const isStaleConnection = (request: ClientRequest, error: unknown): boolean =>
  request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');

interface Asked extends Request {
  readonly isWhole: boolean;
}

export function createSender(options: SenderOptions): Sender {
  const { seconds = usualSeconds, ca } = options;
  const common = { keepAlive: true, timeout: idleMillis, maxFreeSockets: mostIdleConnections };
  const agents = {
    'http:': new HttpAgent(common),
    'https:': new HttpsAgent(common),
  };

  const once = (asked: Asked, signal: AbortSignal, agent: HttpAgent | false): Promise<Answered> => {
    const { url, method, headers, body, isWhole } = asked;
    const { isAddress, host, ...destination } = destinationOf(url);
    if (isAddress) {
      // An address is connected to without a look-up.
      const refused = refusedAddress(host, destination, options.networks);
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
        else reject(signal.aborted ? new Error(`no answer within ${seconds} s`) : error);
      });
      request.on('response', (response) => {
        readAnswer(response, isWhole).then(resolve, (error: unknown) => {
          reject(signal.aborted ? new Error(`no whole answer within ${seconds} s`) : (error as Error));
        });
      });
      request.end(body);
    });
  };

  const send = (asked: Asked): Promise<Answered> =>
    once(asked, AbortSignal.timeout(seconds * 1_000), agents[destinationOf(asked.url).protocol]);
  return {
    post: (post) => send({ ...post, method: 'POST', isWhole: false }),
    ask: (request) => send({ ...request, isWhole: true }),
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
