import { formatDay } from '@muster/terminal';
import { formatFeatures } from '../features.ts';
import { getProduct, listProducts, makeProduct, type Product, setTrial } from '../operators/products.ts';
import { inTransaction, inReadOnlyTransaction, RefusedError } from '../operators/transaction.ts';
import { listOutput, type LicenseCommand, textOption } from './command.ts';
import { applyFeatureOptions, addFeatureOptions } from './features.ts';
import { formatDuration } from './shown.ts';
import { parseTrialSeconds } from './term.ts';

const formatTrialDuration = ({ trialSeconds }: Product): string =>
  trialSeconds === null ? '–' : formatDuration(trialSeconds);

const productListCommand: LicenseCommand = {
  name: 'product list',
  description: 'List the products',
  run: async ({ pool }) => {
    const items = await inReadOnlyTransaction(pool, listProducts);
    return listOutput(items, {
      PRODUCT: (product) => product.name,
      KEYS: (product) => `${product.keyPrefix}-…`,
      TRIAL: formatTrialDuration,
      SINCE: (product) => formatDay(product.createdAt),
    });
  },
};

const productAddCommand: LicenseCommand = {
  name: 'product add',
  description: 'Create a product with its own signing key',
  configure: (it) =>
    it
      .argument('<product>', 'lower-case letters, digits and . _ -')
      .requiredOption(
        '--prefix <symbols>',
        'the first five symbols of its keys, without I, L, O and U, such as ACME1',
      ),
  run: async ({ pool, secrets }, options, [name = '']) => {
    const [seal] = (await secrets()).seals;
    if (seal === undefined)
      throw new RefusedError('no_seal', 'set LICENSE_SEAL, which encrypts the signing keys');
    const keyPrefix = (textOption(options, 'prefix') ?? '').toUpperCase();
    const product = await inTransaction(pool, (db) => makeProduct(db, { name, keyPrefix, seal }));
    return {
      json: { product },
      lines: [
        `Product ${name}: its keys begin with ${keyPrefix}. Services accept it within 30 s; its programs must name it in their calls.`,
      ],
    };
  },
};

const productSetCommand: LicenseCommand = {
  name: 'product set',
  description: 'Set how long a product can be tried without a key; trials that have started keep their end',
  configure: (it) =>
    addFeatureOptions(it)
      .argument('<product>', 'its name, as shown by product list')
      .option('--trial <span>', 'how long a machine may run it without a key: 14d', parseTrialSeconds)
      .option('--no-trial', 'do not start new trials'),
  run: async ({ pool }, options, [name = '']) => {
    const trialOption = options['trial'];
    const product = await inTransaction(pool, async (db) => {
      const before = await getProduct(db, name);
      const trialSeconds =
        trialOption === false ? null : typeof trialOption === 'number' ? trialOption : before.trialSeconds;
      return setTrial(db, name, {
        trialSeconds,
        trialFeatures: applyFeatureOptions(options, before.trialFeatures),
      });
    });
    const { trialSeconds, trialFeatures } = product;
    return {
      json: { product },
      lines: [
        trialSeconds === null
          ? `Product ${name}: no trials.`
          : `Product ${name}: a trial of ${formatDuration(trialSeconds)} on each machine, features ${formatFeatures(trialFeatures)}.`,
      ],
    };
  },
};

export const productCommands = [productListCommand, productAddCommand, productSetCommand];
