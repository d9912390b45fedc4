/**
 * Questions to the license service, asked again where the answer is none. Only an answer that is signed for this very
 * question counts: what a proxy, a captive portal or an attacker on the way says is taken as an outage, never as a refusal.
 */
import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { type KeyRing } from './key-ring.ts';
import { type Answer, digestOf, headerOf, keyIdOf, signedAt } from './signed-answer.ts';

export interface Call {
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly target: string;
  /** As JSON. */
  readonly body?: string | undefined;
}

/** The service's last word. */
export interface Heard {
  readonly kind: 'heard';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly header: (name: string) => string | undefined;
  /** By its clock, in seconds since 1970. */
  readonly serverSeconds: number;
}

/** It is unknown what the service would say. */
export interface NotHeard {
  readonly kind: 'unreachable' | 'untrusted';
  /** When the service asked to come back; null where it did not say. */
  readonly retryAfterSeconds: number | null;
}

const attemptMillis = 10_000;
const mostBytes = 256 * 1024;
const firstPauseMillis = 250;
const longestPauseMillis = 5_000;

/** One request. Rejects where there is no answer. */
export function send(
  base: URL,
  { method, target, body }: Call,
  headers: Record<string, string>,
): Promise<Answer> {
  const isTls = base.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (isTls ? httpsRequest : httpRequest)(
      new URL(target, base),
      {
        method,
        headers: {
          ...headers,
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
        },
        // Of its own, and closed with the answer: nothing keeps the process.
        agent: false,
        signal: AbortSignal.timeout(attemptMillis),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > mostBytes) response.destroy(new Error('the answer is too long'));
          else chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const objectIn = (bytes: Buffer): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** Nothing was decided, whatever its headers say: they are not signed. */
const isOutage = ({ status }: Answer): boolean => status === 429 || status >= 500;

function retryAfterOf(answer: Answer): number | null {
  const text = headerOf(answer, 'retry-after') ?? '';
  return /^\d{1,6}$/.test(text) ? Number(text) : null;
}

export interface Asking {
  readonly base: URL;
  /** Which of the service's products it is about. */
  readonly serviceProduct: string | undefined;
  /** How long to go on where there is no answer. */
  readonly patienceMillis: number;
  /** The keys that are trusted; asked again with the name of one that it does not have. */
  readonly ringFor: (kid: string) => Promise<KeyRing>;
}

/** One attempt: the last word, or why there is none. */
async function attempt({ base, serviceProduct, ringFor }: Asking, call: Call): Promise<Heard | NotHeard> {
  const { method, target, body } = call;
  const digest = body === undefined ? undefined : digestOf(body);
  const nonce = randomBytes(18).toString('base64url');
  try {
    const headers = {
      'license-nonce': nonce,
      ...(digest !== undefined && { 'content-digest': digest }),
      ...(serviceProduct !== undefined && { 'license-product': serviceProduct }),
    };
    const answer = await send(base, call, headers);
    const retryAfterSeconds = retryAfterOf(answer);
    // Proxies answer for a service that is away, and it answers so itself before it has its keys or all of the body:
    // nothing rests on who said it.
    if (isOutage(answer)) return { kind: 'unreachable', retryAfterSeconds };
    const kid = keyIdOf(answer);
    if (kid === undefined) return { kind: 'untrusted', retryAfterSeconds };
    const serverSeconds = signedAt(answer, { method, target, digest, nonce }, await ringFor(kid));
    if (serverSeconds === undefined) return { kind: 'untrusted', retryAfterSeconds };
    if (headerOf(answer, 'license-verdict') !== 'final') return { kind: 'unreachable', retryAfterSeconds };
    const header = (name: string): string | undefined => headerOf(answer, name);
    return { kind: 'heard', status: answer.status, body: objectIn(answer.body), header, serverSeconds };
  } catch {
    return { kind: 'unreachable', retryAfterSeconds: null };
  }
}

/** Asks until there is a last word, or until patience is over; comes back when the service asked to. */
export async function ask(asking: Asking, call: Call): Promise<Heard | NotHeard> {
  const deadline = performance.now() + asking.patienceMillis;
  for (let turn = 0; ; turn += 1) {
    const outcome = await attempt(asking, call);
    if (outcome.kind === 'heard') return outcome;
    // Doubled each time, and spread, so that machines do not come back all at once.
    const own = Math.min(firstPauseMillis * 2 ** turn, longestPauseMillis) * (0.5 + Math.random());
    const wait = Math.max(own, (outcome.retryAfterSeconds ?? 0) * 1_000);
    if (performance.now() + wait > deadline) return outcome;
    await pause(wait);
  }
}
