/** Imported before any schema is made: checks of schemas are not to be made of text, which the content policy refuses. */
import { z } from 'zod';

z.config({ jitless: true });
