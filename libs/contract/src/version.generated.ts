/** The version of the product: `npm run generate` writes it from that of the packages which others install. */
export const productVersion = '0.1.0';
