/** Adds a verdict, a no-store header and a signature to every answer. */
import { createHash } from 'node:crypto';
import { badRequest, malformedRequest, notFoundWithReason } from '@muster/http';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Readable } from 'node:stream';
import { type OpenedVault, findLoadedProduct } from '../vault.ts';
import { isNonce } from './sign-answer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The digest of the request body; undefined if there is no body or the body is incomplete. */
    bodyDigest: string | undefined;
    /** Resolves when the body is completely read, interrupted or too large. */
    bodyRead: Promise<void> | undefined;
    /** The product whose key signs the answer: that of the license key or of the header License-Product. */
    product: string | undefined;
  }
}

/** Paths of health probes, which are frequent and do not check signatures. */
const unsignedPaths = new Set(['/livez', '/readyz']);

const validNonceOf = (request: FastifyRequest): string | undefined => {
  const nonce = request.headers['license-nonce'];
  return typeof nonce === 'string' && isNonce(nonce) ? nonce : undefined;
};

/**
 * Returns `final` if the service has decided. Otherwise returns `retry`, which a client must not treat as a refusal. An
 * unknown path also gives `retry`, because its 404 is not about any license.
 */
const verdictOf = (httpStatus: number, isKnownPath: boolean): 'final' | 'retry' =>
  httpStatus === 429 || httpStatus >= 500 || !isKnownPath ? 'retry' : 'final';

const isBodiless = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

/** Computes the digest of the body while it streams. Must be called in the tick in which the parser starts reading. */
function startBodyDigest(request: FastifyRequest, payload: Readable): void {
  const { bodyLimit } = request.routeOptions;
  const digest = createHash('sha256');
  let bytes = 0;
  request.bodyRead = new Promise((resolve) => {
    payload.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      digest.update(chunk);
      if (bytes > bodyLimit) resolve();
    });
    payload.on('end', () => {
      if (bytes > 0) request.bodyDigest = `sha-256=:${digest.digest('base64')}:`;
      resolve();
    });
    payload.once('close', resolve).once('error', resolve);
  });
}

/** Statuses that the framework answers before it reads the body. */
const statusesWithUnreadBody = new Set([405, 415]);

export function addSignedAnswers(app: FastifyInstance, openedVault: () => OpenedVault | undefined): void {
  app.decorateRequest('bodyDigest', undefined).decorateRequest('product', undefined);
  app.decorateRequest('bodyRead', undefined);
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (!isBodiless(request)) startBodyDigest(request, payload);
    done(null, payload);
  });
  // Requests with any other content type get the same refusal. Their body is still read, because the
  // signature covers its digest.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => {
    done(malformedRequest('content_type', 'Send application/json.'));
  });

  // Checks the nonce only after the body has arrived, because the signature of the refusal covers the body.
  app.addHook('preValidation', (request, _reply, done) => {
    const isUnfit = request.headers['license-nonce'] !== undefined && validNonceOf(request) === undefined;
    if (isUnfit) {
      const message = 'must be 1 to 256 printable ASCII characters without spaces';
      done(badRequest('The License-Nonce header is invalid.', [{ path: 'License-Nonce', message }]));
      return;
    }
    const named = request.headers['license-product'];
    const now = openedVault();
    if (typeof named === 'string' && now !== undefined) {
      if (findLoadedProduct(now, named) === undefined) {
        done(badRequest('There is no such product.', [{ path: 'License-Product', message: 'is unknown' }]));
        return;
      }
      request.product = named;
    }
    done();
  });

  app.addHook('onSend', async (request, reply, payload) => {
    if (unsignedPaths.has(request.routeOptions.url ?? '')) return;
    if (statusesWithUnreadBody.has(reply.statusCode) && !isBodiless(request)) {
      if (request.bodyRead === undefined) startBodyDigest(request, request.raw);
      await request.bodyRead;
    }
    reply.header('license-verdict', verdictOf(reply.statusCode, request.routeOptions.url !== undefined));
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    const signer = findLoadedProduct(openedVault(), request.product)?.keys.signer;
    if (signer !== undefined) {
      const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
      const content = isText && request.method !== 'HEAD' ? payload : '';
      const asked = {
        ...{ method: request.method, target: request.raw.url ?? '/' },
        ...{ digest: request.bodyDigest, nonce: validNonceOf(request) },
      };
      reply.headers(signer.signAnswer(asked, { status: reply.statusCode, content }));
    }
  });
}

/** Publishes the keys of the product `?product=` or of the default product. Clients trust only their own product. */
export function addPublishedKeysRoute(
  app: FastifyInstance,
  openedVault: () => OpenedVault | undefined,
): void {
  app.get<{ Querystring: { product?: unknown } }>('/.well-known/license-keys.json', (request, reply) => {
    const { product: named } = request.query;
    const product = findLoadedProduct(openedVault(), typeof named === 'string' ? named : undefined);
    if (product === undefined && openedVault() !== undefined) throw notFoundWithReason('no_such_path');
    return (
      reply
        .header('content-type', 'application/jwk-set+json')
        // The cache time is much shorter than the time between the publication of a key and its use.
        .header('cache-control', 'public, max-age=300')
        .send(JSON.stringify({ keys: product?.keys.published ?? [] }))
    );
  });
}
