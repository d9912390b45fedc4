import { productVersion } from '@muster/registry';

/** `1.2.3 (Node 24.21.0)`: which release this is. */
export const versionText = (): string => `${productVersion} (Node ${process.versions.node})`;
