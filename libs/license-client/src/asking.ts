/**
 * Calls the license service, and retries calls without a valid answer. Only an answer that is signed for this
 * very call counts.
 * Answers of a proxy, a captive portal or an attacker count as an outage, never as a refusal.
 */
import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { type KeyRing } from './key-ring.ts';
import {
  type ServiceResponse,
  contentDigestOf,
  headerOf,
  keyIdOf,
  verifiedSignatureSeconds,
} from './signed-answer.ts';

export interface ServiceCall {
  readonly method: 'GET' | 'POST';
  /** The path and the query of the call. */
  readonly target: string;
  /** The body of the call as JSON text. */
  readonly body?: string | undefined;
}

/** A final answer of the service. */
export interface ServiceReply {
  readonly kind: 'heard';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly header: (name: string) => string | undefined;
  /** The time by the service's clock, in seconds since 1970. */
  readonly serverSeconds: number;
}

/** The reason why a call got no final answer. */
export interface NoReply {
  readonly kind: 'unreachable' | 'untrusted';
  /** The delay that the service requested, or null if it requested none. */
  readonly retryAfterSeconds: number | null;
}

const attemptTimeoutMillis = 10_000;
const maxResponseBytes = 256 * 1024;
const firstRetryDelayMillis = 250;
const maxRetryDelayMillis = 5_000;

/** Sends one request. Rejects if there is no answer. */
export function sendRequest(
  baseUrl: URL,
  { method, target, body }: ServiceCall,
  headers: Record<string, string>,
): Promise<ServiceResponse> {
  const isTls = baseUrl.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (isTls ? httpsRequest : httpRequest)(
      new URL(target, baseUrl),
      {
        method,
        headers: {
          ...headers,
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
        },
        // Uses a new connection that closes with the answer. An open connection would keep the process alive.
        agent: false,
        signal: AbortSignal.timeout(attemptTimeoutMillis),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxResponseBytes) response.destroy(new Error('the response is too large'));
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

const parseJsonObject = (bytes: Buffer): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/**
 * Returns true if the answer reports an outage, whatever its headers contain. The service has decided nothing
 * then, and such answers are not signed.
 */
const isOutageResponse = ({ status }: ServiceResponse): boolean => status === 429 || status >= 500;

function retryAfterSecondsOf(answer: ServiceResponse): number | null {
  const text = headerOf(answer, 'retry-after') ?? '';
  return /^\d{1,6}$/.test(text) ? Number(text) : null;
}

export interface ServiceCallSettings {
  readonly base: URL;
  /** The product to which the calls belong, within a service that sells several. */
  readonly serviceProduct: string | undefined;
  /** The time in milliseconds during which calls are retried. */
  readonly patienceMillis: number;
  /** Returns the trusted keys. It is called again with the ID of a key that is missing from them. */
  readonly keyRingFor: (kid: string) => Promise<KeyRing>;
}

/** Sends the call once. Returns the final answer of the service, or the reason why there is none. */
async function attemptCall(
  { base, serviceProduct, keyRingFor }: ServiceCallSettings,
  call: ServiceCall,
): Promise<ServiceReply | NoReply> {
  const { method, target, body } = call;
  const digest = body === undefined ? undefined : contentDigestOf(body);
  const nonce = randomBytes(18).toString('base64url');
  try {
    const headers = {
      'license-nonce': nonce,
      ...(digest !== undefined && { 'content-digest': digest }),
      ...(serviceProduct !== undefined && { 'license-product': serviceProduct }),
    };
    const answer = await sendRequest(base, call, headers);
    const retryAfterSeconds = retryAfterSecondsOf(answer);
    // An outage needs no signature to count. Proxies answer for an unreachable service, and the service
    // itself cannot sign before it has its keys or the whole body.
    if (isOutageResponse(answer)) return { kind: 'unreachable', retryAfterSeconds };
    const kid = keyIdOf(answer);
    if (kid === undefined) return { kind: 'untrusted', retryAfterSeconds };
    const serverSeconds = verifiedSignatureSeconds(
      answer,
      { method, target, digest, nonce },
      await keyRingFor(kid),
    );
    if (serverSeconds === undefined) return { kind: 'untrusted', retryAfterSeconds };
    if (headerOf(answer, 'license-verdict') !== 'final') return { kind: 'unreachable', retryAfterSeconds };
    const header = (name: string): string | undefined => headerOf(answer, name);
    return {
      kind: 'heard',
      status: answer.status,
      body: parseJsonObject(answer.body),
      header,
      serverSeconds,
    };
  } catch {
    return { kind: 'unreachable', retryAfterSeconds: null };
  }
}

/** Retries until there is a final answer or the time is up. Respects the delay that the service requests. */
export async function callWithRetries(
  settings: ServiceCallSettings,
  call: ServiceCall,
): Promise<ServiceReply | NoReply> {
  const deadline = performance.now() + settings.patienceMillis;
  for (let turn = 0; ; turn += 1) {
    const outcome = await attemptCall(settings, call);
    if (outcome.kind === 'heard') return outcome;
    // The delay doubles with each attempt. Its random part keeps machines from returning all at the same
    // time.
    const own = Math.min(firstRetryDelayMillis * 2 ** turn, maxRetryDelayMillis) * (0.5 + Math.random());
    const wait = Math.max(own, (outcome.retryAfterSeconds ?? 0) * 1_000);
    if (performance.now() + wait > deadline) return outcome;
    await pause(wait);
  }
}
