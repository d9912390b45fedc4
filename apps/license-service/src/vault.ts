/**
 * Loads the secrets and signing keys that the service needs before it can answer. They are read again every 30 seconds,
 * so that new and retired keys need no restart.
 */
import { ask, DatabaseAway, DatabaseBusy, type Pool, sql } from '@muster/driver';
import { type Logger } from 'pino';
import { createMachineHasher, type MachineHasher } from './activation/machine.ts';
import { type GivenSecrets, loadSecrets, mayProvision, provision, type Secrets } from './database.ts';
import { type Product, usualProduct } from './operators/products.ts';
import { type Keys, loadKeys } from './signing/signing-key.ts';

const againMillis = 30_000;
const retryMillis = 500;

/** A product with its signing keys. */
export interface ProductAtWork extends Pick<Product, 'name' | 'keyPrefix'> {
  readonly keys: Keys;
}

export interface OpenedVault {
  readonly hasher: MachineHasher;
  readonly products: readonly ProductAtWork[];
  /** The sealing secrets. The first one seals; all of them open. */
  readonly seals: readonly (string | Buffer)[];
}

/** Returns the product of this name; the default product without a name. */
export const productOf = (
  opened: OpenedVault | undefined,
  name: string = usualProduct,
): ProductAtWork | undefined => opened?.products.find((one) => one.name === name);

const noKeys: Keys = { published: [], signer: undefined };

/** Reads the products and opens their signing keys with these secrets. */
export async function openWith(pool: Pool, { pepper, pepperBefore, seals }: Secrets): Promise<OpenedVault> {
  const keys = await loadKeys(pool, seals);
  const rows = await ask(
    pool,
    sql<Pick<Product, 'name' | 'keyPrefix'>>`select name, key_prefix as "keyPrefix"
      from licenses.products order by created_at, name`,
  );
  const products = rows.map((one) => ({ ...one, keys: keys.get(one.name) ?? noKeys }));
  return { hasher: createMachineHasher(pepper, pepperBefore), products, seals };
}

export interface Vault {
  /** Returns the opened vault; undefined until it could be opened. */
  readonly opened: () => OpenedVault | undefined;
  /** Opens the vault. If this fails, retries in the background. */
  readonly start: () => Promise<void>;
  /** Reads the keys again immediately. */
  readonly refresh: () => Promise<void>;
  readonly stop: () => void;
}

export interface VaultOptions {
  readonly pool: Pool;
  readonly url: string;
  readonly given: GivenSecrets;
  readonly logger: Logger;
}

export function createVault({ pool, url, given, logger }: VaultOptions): Vault {
  let opened: OpenedVault | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isProvisioned = false;
  let isStopped = false;

  /**
   * Migrates the schema if the login may do so. Otherwise an operator has to migrate with another login, and
   * reading the secrets fails until then.
   */
  const tryToProvision = async (): Promise<void> => {
    try {
      // Before the first migration the service's role does not exist, so checking its rights fails. In that
      // case the migration is attempted.
      isProvisioned = !(await mayProvision(pool).catch(() => true));
      if (isProvisioned) return;
      const applied = await provision(url, given);
      isProvisioned = true;
      if (applied.length > 0) logger.info({ applied }, 'the schema was brought up to date');
    } catch (error) {
      if (error instanceof DatabaseAway || error instanceof DatabaseBusy) return;
      logger.warn({ err: error }, 'the schema could not be brought up to date by this login');
    }
  };

  // Migrates the schema first, even if the old schema can already be read, and then reads the secrets.
  const open = async (): Promise<void> => {
    if (!isProvisioned) await tryToProvision();
    opened = await openWith(pool, await loadSecrets(pool, given));
  };

  const turn = async (): Promise<void> => {
    let pause = againMillis;
    try {
      await open();
    } catch (error) {
      pause = opened === undefined ? retryMillis : againMillis;
      logger.warn({ err: error }, 'secrets and signing keys could not be read');
    }
    if (!isStopped) timer = setTimeout(() => void turn(), pause).unref();
  };

  return {
    opened: () => opened,
    start: turn,
    refresh: open,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
