/** The products of one service. Each has its own key prefix, plans, signing keys and tokens. */
import { sql } from '@muster/driver';
import { type LicenseFeatures } from '../features.ts';
import { areConfusablePrefixes, defaultKeyPrefix } from '../key/key.ts';
import { generateSigningKey } from '../signing/signing-key.ts';
import { advisoryLockIds } from './locks.ts';
import { type Db, RefusedError } from './transaction.ts';

export interface Product {
  readonly name: string;
  /** The first five symbols of the product's license keys. */
  readonly keyPrefix: string;
  /** The duration of a trial in seconds. A machine gets one trial. Null if the product has no trials. */
  readonly trialSeconds: number | null;
  /** The features during the trial. */
  readonly trialFeatures: LicenseFeatures;
  readonly createdAt: string;
}

/** The name of the default product, which exists from the start. */
export const defaultProduct = 'default';

export const productNamePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** A prefix: five symbols of the key alphabet, without the letters that are read as digits. */
export const prefixPattern = /^[0-9A-HJKMNP-TV-Z]{5}$/;

export const listProducts = (db: Db): Promise<Product[]> =>
  db.all(sql<Product>`select name, key_prefix as "keyPrefix", trial_seconds as "trialSeconds", trial_features as "trialFeatures",
       created_at as "createdAt"
     from licenses.products order by created_at, name`);

export const listKeyPrefixes = async (db: Db): Promise<readonly string[]> =>
  (await listProducts(db)).map(({ keyPrefix }) => keyPrefix);

export async function getProduct(db: Db, name: string): Promise<Product> {
  const product = (await listProducts(db)).find((one) => one.name === name);
  if (product === undefined)
    throw new RefusedError('unknown_product', `there is no product ${name} (see license product list)`);
  return product;
}

/** Locks changes of products until the end of the transaction. */
const lockProductsSql = sql`select pg_advisory_xact_lock(${advisoryLockIds.products})`;

/** Creates a product. Its signing key is active immediately, because no client of it exists yet. */
export async function makeProduct(
  db: Db,
  { name, keyPrefix, seal }: Pick<Product, 'name' | 'keyPrefix'> & { readonly seal: string | Buffer },
): Promise<Product> {
  await db.all(lockProductsSql);
  if (!productNamePattern.test(name))
    throw new RefusedError(
      'product_name',
      "a product's name has at most 64 lower-case letters, digits and . _ -",
    );
  if (!prefixPattern.test(keyPrefix))
    throw new RefusedError(
      'key_prefix',
      `a prefix has five symbols such as ${defaultKeyPrefix}, without I, L, O and U`,
    );
  const products = await listProducts(db);
  if (products.some((one) => one.name === name))
    throw new RefusedError('product_exists', `the product ${name} already exists`);
  const mistaken = products.find((one) => areConfusablePrefixes(one.keyPrefix, keyPrefix));
  if (mistaken !== undefined)
    throw new RefusedError(
      'key_prefix',
      `a key typed without its prefix could be mistaken for one of ${mistaken.name}; choose another prefix`,
    );
  await db.all(sql`insert into licenses.products (name, key_prefix) values (${name}, ${keyPrefix})`);
  const { kid, publicKey, sealedKey } = generateSigningKey(seal);
  await db.all(sql`insert into licenses.signing_keys (kid, public_key, sealed_key, active_from, product)
     values (${kid}, ${publicKey}, ${sealedKey}, clock_timestamp(), ${name})`);
  return getProduct(db, name);
}

/** Sets the duration and features of trials. Running trials keep their ends. */
export async function setTrial(
  db: Db,
  name: string,
  { trialSeconds, trialFeatures }: Pick<Product, 'trialSeconds' | 'trialFeatures'>,
): Promise<Product> {
  await db.all(
    sql`update licenses.products set trial_seconds = ${trialSeconds}, trial_features = ${trialFeatures}
      where name = ${name}`,
  );
  return getProduct(db, name);
}
