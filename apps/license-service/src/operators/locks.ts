/** The advisory locks of this service, in one place: no two of them have one number. */
export const locks = {
  provision: 4_102,
  import: 4_103,
  products: 4_104,
  /** With the order, as a second number. */
  order: 4_105,
  grants: 4_106,
  signingKeys: 4_107,
  webhooks: 4_108,
} as const;
