import { dayOf, table } from '@muster/terminal';
import { featureWords } from '../features.ts';
import { getProduct, listProducts, makeProduct, type Product, setTrial } from '../operators/products.ts';
import { inTransaction, reading, Refused } from '../operators/transaction.ts';
import { type LicenseCommand, text } from './command.ts';
import { featuresOf, withFeatures } from './features.ts';
import { spanOf } from './shown.ts';
import { toTrial } from './term.ts';

const trialWords = ({ trialSeconds }: Product): string =>
  trialSeconds === null ? '–' : spanOf(trialSeconds);

export const productList: LicenseCommand = {
  name: 'product list',
  description: 'List the products',
  run: async ({ pool }) => {
    const items = await reading(pool, listProducts);
    return {
      json: { items },
      lines: table(
        ['PRODUCT', 'KEYS', 'TRIAL', 'SINCE'],
        items.map((product) => [
          ...[product.name, `${product.keyPrefix}-…`, trialWords(product), dayOf(product.createdAt)],
        ]),
      ),
    };
  },
};

export const productAdd: LicenseCommand = {
  name: 'product add',
  description: 'Create a product with its own signing key',
  shape: (it) =>
    it
      .argument('<product>', 'lower-case letters, digits and . _ -')
      .requiredOption(
        '--prefix <symbols>',
        'the first five symbols of its keys, without I, L, O and U, such as ACME1',
      ),
  run: async ({ pool, secrets }, options, [name = '']) => {
    const [seal] = (await secrets()).seals;
    if (seal === undefined) throw new Refused('no_seal', 'set LICENSE_SEAL, which encrypts the signing keys');
    const keyPrefix = (text(options, 'prefix') ?? '').toUpperCase();
    const product = await inTransaction(pool, (db) => makeProduct(db, { name, keyPrefix, seal }));
    return {
      json: { product },
      lines: [
        `Product ${name}: its keys begin with ${keyPrefix}. Services accept it within 30 s; its programs must name it in their calls.`,
      ],
    };
  },
};

export const productSet: LicenseCommand = {
  name: 'product set',
  description: 'Set how long a product can be tried without a key; trials that have started keep their end',
  shape: (it) =>
    withFeatures(it)
      .argument('<product>', 'its name, as shown by product list')
      .option('--trial <span>', 'how long a machine may run it without a key: 14d', toTrial)
      .option('--no-trial', 'do not start new trials'),
  run: async ({ pool }, options, [name = '']) => {
    const said = options['trial'];
    const product = await inTransaction(pool, async (db) => {
      const before = await getProduct(db, name);
      const trialSeconds = said === false ? null : typeof said === 'number' ? said : before.trialSeconds;
      return setTrial(db, name, { trialSeconds, trialFeatures: featuresOf(options, before.trialFeatures) });
    });
    const { trialSeconds, trialFeatures } = product;
    return {
      json: { product },
      lines: [
        trialSeconds === null
          ? `Product ${name}: no trials.`
          : `Product ${name}: a trial of ${spanOf(trialSeconds)} on each machine, features ${featureWords(trialFeatures)}.`,
      ],
    };
  },
};
