/**
 * Loads the secrets and signing keys that the service needs before it can answer. They are read again every 30 seconds,
 * so that new and retired keys need no restart.
 */
import { queryOutsideOrg, DatabaseAway, DatabaseBusy, type Pool, sql } from '@muster/driver';
import { type Logger } from 'pino';
import { createMachineHasher, type MachineHasher } from './activation/machine.ts';
import { type EnvironmentSecrets, loadSecrets, mayProvision, provision, type Secrets } from './database.ts';
import { type Product, defaultProduct } from './operators/products.ts';
import { type ProductSigningKeys, loadSigningKeys } from './signing/signing-key.ts';

const reloadIntervalMillis = 30_000;
const retryDelayMillis = 500;

/** A product with its signing keys. */
export interface ProductWithKeys extends Pick<Product, 'name' | 'keyPrefix'> {
  readonly keys: ProductSigningKeys;
}

export interface OpenedVault {
  readonly hasher: MachineHasher;
  readonly products: readonly ProductWithKeys[];
  /** The sealing secrets. The first one seals; all of them open. */
  readonly seals: readonly (string | Buffer)[];
}

/** Returns the product of this name; the default product without a name. */
export const findLoadedProduct = (
  openedVault: OpenedVault | undefined,
  name: string = defaultProduct,
): ProductWithKeys | undefined => openedVault?.products.find((one) => one.name === name);

const emptySigningKeys: ProductSigningKeys = { published: [], signer: undefined };

/** Reads the products and opens their signing keys with these secrets. */
export async function openVault(pool: Pool, { pepper, pepperBefore, seals }: Secrets): Promise<OpenedVault> {
  const keys = await loadSigningKeys(pool, seals);
  const rows = await queryOutsideOrg(
    pool,
    sql<Pick<Product, 'name' | 'keyPrefix'>>`select name, key_prefix as "keyPrefix"
      from licenses.products order by created_at, name`,
  );
  const products = rows.map((one) => ({ ...one, keys: keys.get(one.name) ?? emptySigningKeys }));
  return { hasher: createMachineHasher(pepper, pepperBefore), products, seals };
}

export interface Vault {
  /** Returns the opened vault; undefined until it could be opened. */
  readonly currentVault: () => OpenedVault | undefined;
  /** Opens the vault. If this fails, retries in the background. */
  readonly start: () => Promise<void>;
  /** Reads the keys again immediately. */
  readonly reload: () => Promise<void>;
  readonly stop: () => void;
}

export interface VaultOptions {
  readonly pool: Pool;
  readonly url: string;
  readonly environmentSecrets: EnvironmentSecrets;
  readonly logger: Logger;
}

export function createVault({ pool, url, environmentSecrets, logger }: VaultOptions): Vault {
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
      const applied = await provision(url, environmentSecrets);
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
    opened = await openVault(pool, await loadSecrets(pool, environmentSecrets));
  };

  const turn = async (): Promise<void> => {
    let pause = reloadIntervalMillis;
    try {
      await open();
    } catch (error) {
      pause = opened === undefined ? retryDelayMillis : reloadIntervalMillis;
      logger.warn({ err: error }, 'secrets and signing keys could not be read');
    }
    if (!isStopped) timer = setTimeout(() => void turn(), pause).unref();
  };

  return {
    currentVault: () => opened,
    start: turn,
    reload: open,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
