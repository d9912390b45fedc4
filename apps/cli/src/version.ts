import { productVersion } from '@muster/contract';

/** Returns the release, such as `1.2.3 (Node 24.21.0)`. */
export const versionText = (): string => `${productVersion} (Node ${process.versions.node})`;
