/** The way in of what forges deliver: who sent it is decided at once, what it says by a job. */
import { type Pool } from '@muster/driver';
import { type Seals } from '@muster/outbound';
import { type ForgeKind, isUuid, malformed, parseUntrustedJson } from '@muster/registry';
import { badRequest, notFound, unauthorized } from '@muster/runtime';
import { findForgeDoor, inOrganizationAsSystem, outboxRow } from '@muster/tenancy';
import { noteDelivery, secretOwner } from './data/connections.ts';
import { insertDelivery } from './data/deliveries.ts';
import { deliveryIdOf, eventOf, type Headers, neededHeaders, trustOf } from './rules/signatures.ts';

export interface Delivered {
  readonly connectionId: string;
  readonly headers: Headers;
  /** As it came: signatures are over these bytes. */
  readonly body: Buffer;
  /** Asked once it is known to be the forge's; may throw that there are too many. */
  readonly admit?: () => Promise<void>;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(body: Buffer): string {
  let text: string;
  try {
    text = utf8.decode(body);
    parseUntrustedJson(text);
  } catch {
    throw malformed(
      'invalid_json',
      'The body must be JSON in UTF-8, nested at most 64 levels deep: choose application/json as the content type of the webhook.',
    );
  }
  return text;
}

function statedOf(kind: ForgeKind, headers: Headers): { event: string; deliveryId: string } {
  const [event, deliveryId] = [eventOf(kind, headers), deliveryIdOf(kind, headers)];
  if (event === undefined || deliveryId === undefined) {
    throw badRequest(`A delivery has the headers ${neededHeaders(kind).join(' and ')}.`);
  }
  return { event, deliveryId };
}

/**
 * Keeps a delivery and asks for it to be read. `isNew` is false for one that came before, which changes nothing. Throws 404
 * for an unknown connection, 401 for what the forge did not sign, 400 for what is no delivery.
 */
export async function receiveDelivery(
  pool: Pool,
  seals: Seals,
  { connectionId, headers, body, admit }: Delivered,
): Promise<{ isNew: boolean; orgId: string }> {
  const door = isUuid(connectionId) ? await findForgeDoor(pool, connectionId) : undefined;
  if (door === undefined) throw notFound();
  const { orgId, kind } = door;
  const secret = seals.open(secretOwner(door.organizationKey, connectionId), door.secret);
  // What is not UTF-8 has other bytes than its text, so no signature fits it.
  const trust = secret === undefined ? null : await trustOf(kind, secret, headers, body.toString('utf8'));
  if (trust === null) throw unauthorized('delivery_signature');
  await admit?.();
  const payload = textOf(body);
  const stated = statedOf(kind, headers);
  const isNew = await inOrganizationAsSystem(pool, orgId, async (db) => {
    const id = await insertDelivery(db, { connectionId, ...stated, trust, payload });
    if (id === undefined) return false;
    db.later(outboxRow('forge.translate', { deliveryId: id }));
    db.later(noteDelivery(connectionId));
    return true;
  });
  return { isNew, orgId };
}
