/** The parts of tar-stream that the command line and its specs use. The package has no types of its own. */
declare module 'tar-stream' {
  import { type Readable, type Writable } from 'node:stream';

  interface TarEntry extends Readable {
    readonly header: { readonly name: string; readonly type: string; readonly size: number };
  }
  interface TarExtract extends Writable, AsyncIterable<TarEntry> {}

  interface TarPack extends Readable {
    readonly entry: (header: { readonly name: string }, content: Buffer) => void;
    readonly finalize: () => void;
  }

  const tar: { readonly extract: () => TarExtract; readonly pack: () => TarPack };
  export default tar;
}
