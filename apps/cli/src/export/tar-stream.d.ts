/** The part of tar-stream that reads archives. The package has no types of its own. */
declare module 'tar-stream' {
  import { type Readable, type Writable } from 'node:stream';

  interface TarEntry extends Readable {
    readonly header: { readonly name: string; readonly type: string; readonly size: number };
  }
  interface TarExtract extends Writable, AsyncIterable<TarEntry> {}

  const tar: { readonly extract: () => TarExtract };
  export default tar;
}
