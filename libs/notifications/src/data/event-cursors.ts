/**
 * Encrypted cursors of the activity. Its sequence numbers have no gaps, so a plain number would reveal how
 * much happens in projects that the caller may not see. Even two cursors of the same position differ.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { BadCursor, type Db, orgFilter, sql } from '@muster/driver';
import { LRUCache } from 'lru-cache';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const seqBytes = 8;
const cipherOptions = { authTagLength: tagBytes };

export interface EventCursors {
  readonly encode: (seq: number) => string;
  /** Decrypts a cursor. Throws BadCursor if this organization did not issue it. */
  readonly decode: (cursor: string) => number;
}

/** The cached short names of organizations (`orgs.key`), by id. A short name never changes. */
const keyCache = new LRUCache<string, Buffer>({ max: 10_000 });

/**
 * Returns the organization's key. The first call for an organization in a process needs a query, and later
 * ones use the cache.
 */
export async function getCachedOrganizationKey(db: Db, orgId: string): Promise<Buffer> {
  const remembered = keyCache.get(orgId);
  if (remembered !== undefined) return remembered;
  const { cursor_key: key } = await db.one(
    sql<{ cursor_key: Buffer }>`select s.cursor_key from streams s where ${orgFilter('s')}`,
  );
  keyCache.set(orgId, key);
  return key;
}

/** The reading direction of a list. A cursor is valid only for its own direction. */
export type ReadDirection = 'up' | 'down';

export const getEventCursors = async (
  db: Db,
  orgId: string,
  direction: ReadDirection = 'up',
): Promise<EventCursors> => createEventCursors(await getCachedOrganizationKey(db, orgId), direction);

/** The name of the parameter that contains the cursor. */
const cursorParamByDirection: Readonly<Record<ReadDirection, string>> = { up: 'after', down: 'cursor' };

const authenticatedDataByDirection: Readonly<Record<ReadDirection, Buffer>> = {
  up: Buffer.alloc(0),
  down: Buffer.from('down'),
};

export const createEventCursors = (key: Buffer, direction: ReadDirection = 'up'): EventCursors => ({
  encode: (seq) => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, key, nonce, cipherOptions);
    cipher.setAAD(authenticatedDataByDirection[direction]);
    const plain = Buffer.alloc(seqBytes);
    plain.writeBigUInt64BE(BigInt(seq));
    const sealed = [nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
    // guard: a cursor is sealed
    return Buffer.concat(sealed).toString('base64url');
  },
  decode: (cursor) => {
    const bytes = Buffer.from(cursor, 'base64url');
    const isComplete = bytes.length === nonceBytes + seqBytes + tagBytes;
    // guard: a cursor is opened
    if (!isComplete) throw new BadCursor(cursorParamByDirection[direction]);
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), cipherOptions);
    decipher.setAAD(authenticatedDataByDirection[direction]);
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const plain = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    try {
      decipher.final();
    } catch {
      throw new BadCursor(cursorParamByDirection[direction]);
    }
    return Number(plain.readBigUInt64BE());
  },
});
