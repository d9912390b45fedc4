/** The specs of the demo's stories, in markdown. */
export const demoSpecs = {
  passkey: `# Sign in with a passkey after the purchase

## Why
Guests who come back type their address again. A passkey made on the "thank you" page gives them an account without a password.

## What
1. After payment the page offers **Save my details with a passkey**; never before.
2. The credential is bound to the e-mail of the order. An address that has an account already gets a mail instead.
3. Declining is remembered for 90 days.

## Done when
- [ ] works in Safari 17, Chrome 122, Firefox 122 and their phones
- [ ] an order is never blocked by it: every error ends on the thank-you page
- [ ] support can remove a passkey
`,

  guest: `# Guest checkout

## Flow
Basket → address → delivery → payment → thanks. Four requests, no account.

## Rules
- An e-mail is asked for once, on the address step.
- The basket survives 30 days in a cookie that holds nothing but its id.
- Tax is computed from the delivery address, and again when it changes.

## Not in this story
Saved addresses, gift cards.
`,

  synonym: `# Synonyms for search

Editors keep a list, one line per group:

\`\`\`
sofa, couch, settee
tee => t-shirt
\`\`\`

A comma means both ways, an arrow one way. A change is live within a minute, without a new index.

| query | finds today | must find |
|---|---|---|
| couch | 0 | 214 |
| tee | 3 | 480 |
| settee | 0 | 214 |
`,

  image: `# Serve images in the size they are shown

- AVIF, then WebP, then JPEG, by \`Accept\`.
- Widths 320, 640, 960, 1280; \`sizes\` from the layout, not guessed.
- The first image of a page is preloaded, all others are lazy.
`,
} as const;
