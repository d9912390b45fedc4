/**
 * Receipt of deliveries from forges. The sender is authenticated immediately, and a job processes the
 * content.
 */
import { type Pool } from '@muster/driver';
import { type SecretCipher } from '@muster/outbound';
import { type ForgeKind, isUuid, malformedRequest, parseUntrustedJson } from '@muster/contract';
import { badRequest, notFound, unauthorized } from '@muster/runtime';
import { findForgeDeliveryKeys, inOrganizationAsSystem, outboxRow } from '@muster/tenancy';
import { storeLastDeliveryTime, webhookSecretOwner } from './data/connections.ts';
import { insertDelivery } from './data/deliveries.ts';
import { deliveryIdOf, eventNameOf, type Headers, requiredHeaders, verifyTrust } from './rules/signatures.ts';

export interface IncomingDelivery {
  readonly connectionId: string;
  readonly headers: Headers;
  /** The body as received, because signatures cover these bytes. */
  readonly body: Buffer;
  /** Called after the signature was verified. It may throw if there are too many deliveries. */
  readonly checkRateLimit?: () => Promise<void>;
}

const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeJsonBody(body: Buffer): string {
  let text: string;
  try {
    text = utf8Decoder.decode(body);
    parseUntrustedJson(text);
  } catch {
    throw malformedRequest(
      'invalid_json',
      'The body must be UTF-8 JSON, nested at most 64 levels deep. Choose application/json as the content type of the webhook.',
    );
  }
  return text;
}

function requireDeliveryHeaders(kind: ForgeKind, headers: Headers): { event: string; deliveryId: string } {
  const [event, deliveryId] = [eventNameOf(kind, headers), deliveryIdOf(kind, headers)];
  if (event === undefined || deliveryId === undefined)
    throw badRequest(`A delivery needs the headers ${requiredHeaders(kind).join(' and ')}.`);
  return { event, deliveryId };
}

/**
 * Stores a delivery and requests its processing. `isNew` is false for a delivery that was received before,
 * which has no effect. Throws 404 for an unknown connection, 401 for an invalid signature, 429 if
 * `checkRateLimit` does, and 400 for an invalid delivery.
 */
export async function receiveDelivery(
  pool: Pool,
  seals: SecretCipher,
  { connectionId, headers, body, checkRateLimit }: IncomingDelivery,
): Promise<{ isNew: boolean; orgId: string }> {
  const keys = isUuid(connectionId) ? await findForgeDeliveryKeys(pool, connectionId) : undefined;
  if (keys === undefined) throw notFound();
  const { orgId, kind } = keys;
  const secret = seals.decrypt(webhookSecretOwner(keys.organizationKey, connectionId), keys.secret);
  // If the body is not UTF-8, its decoded text has other bytes, so no signature matches.
  const trust = secret === undefined ? null : await verifyTrust(kind, secret, headers, body.toString('utf8'));
  if (trust === null) throw unauthorized('delivery_signature');
  await checkRateLimit?.();
  const payload = decodeJsonBody(body);
  const stated = requireDeliveryHeaders(kind, headers);
  const isNew = await inOrganizationAsSystem(pool, orgId, async (db) => {
    const id = await insertDelivery(db, { connectionId, ...stated, trust, payload });
    if (id === undefined) return false;
    db.deferToCommit(outboxRow('forge.translate', { deliveryId: id }));
    db.deferToCommit(storeLastDeliveryTime(connectionId));
    return true;
  });
  return { isNew, orgId };
}
