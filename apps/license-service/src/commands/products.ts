import { dayOf, table } from '@muster/terminal';
import { listProducts, makeProduct } from '../operators/products.ts';
import { inTransaction, reading, Refused } from '../operators/transaction.ts';
import { type LicenseCommand, text } from './command.ts';

export const productList: LicenseCommand = {
  name: 'product list',
  description: 'List the products',
  run: async ({ pool }) => {
    const items = await reading(pool, listProducts);
    return {
      json: { items },
      lines: table(
        ['PRODUCT', 'KEYS', 'SINCE'],
        items.map(({ name, keyPrefix, createdAt }) => [name, `${keyPrefix}-…`, dayOf(createdAt)]),
      ),
    };
  },
};

export const productAdd: LicenseCommand = {
  name: 'product add',
  description: 'Make a product, with a signing key of its own',
  shape: (it) =>
    it
      .argument('<product>', 'small letters, digits and . _ -')
      .requiredOption(
        '--prefix <symbols>',
        'the first five symbols of its keys, without I, L, O and U: ACME1',
      ),
  run: async ({ pool, secrets }, options, [name = '']) => {
    const [seal] = (await secrets()).seals;
    if (seal === undefined)
      throw new Refused('no_seal', 'set LICENSE_SEAL: the signing keys are sealed with it');
    const keyPrefix = (text(options, 'prefix') ?? '').toUpperCase();
    const product = await inTransaction(pool, (ask) => makeProduct(ask, { name, keyPrefix, seal }));
    return {
      json: { product },
      lines: [
        `Product ${name}: its keys begin with ${keyPrefix}. Services hear of it within 30 s; its programs name it to the service.`,
      ],
    };
  },
};
