/** The numbers of all advisory locks of this service. Each number is unique. */
export const advisoryLockIds = {
  provision: 4_102,
  import: 4_103,
  products: 4_104,
  /** The lock of an order. The second number of the lock is the hash of the order. */
  order: 4_105,
  grants: 4_106,
  signingKeys: 4_107,
  webhooks: 4_108,
} as const;
