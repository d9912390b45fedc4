export const dates = {
  reference: {
    sha256: 'd896b24eb4bd218ad9c91b280285b3a67c5b992c07ce235a46addeea86590224',
    since: '2026-11-29',
  },
  'reference/deliveryExecutions': {
    sha256: 'f1824efb49d6e5213aee1c8140ea9434b9aaeb61c0a53fd442406dc652905084',
    since: '2026-11-29',
  },
  'reference/deliveryGroups': {
    sha256: '45e2ca31955a946fe052f83cabe7d615164c2dc8de82e216433bd8f51228c0ef',
    since: '2026-11-29',
  },
  'reference/agents': {
    sha256: 'baa175e0e3421f5b2a4b2e82ddce488a5f656350709b6b5206299a3e3a18399c',
    since: '2026-11-29',
  },
  'reference/agents.catalog': {
    sha256: '1df883d34da2001b61e47301b3a9ae18e0a4fc1c17569144c03343f5721fc971',
    since: '2026-11-29',
  },
  'reference/locks': {
    sha256: '5cc5f9910fbf0151a53fa49d2a90abc8c25e0df88dc19d82920ba2f1f63875d7',
    since: '2026-11-29',
  },
  'reference/session': {
    sha256: '0fb036ce80a84ff161ec33b86ff82b57d38a4895d234632e86a053250e937060',
    since: '2026-11-29',
  },
  'reference/sessions': {
    sha256: '70aa395cb77a35762ddd7db2d1cd8b7f1fdd5e9a1ae6412afbc7f5c5d1695a91',
    since: '2026-11-26',
  },
  'reference/tokens': {
    sha256: '8a6078380b04cb108b24da77db012dc240d9a6ad24319fc869be88a8ee6cbc45',
    since: '2026-11-29',
  },
  'reference/connections': {
    sha256: 'fc0ab85cc90d8b0f135a9682d74822d6d19abef70a0bfc49a298a4eadad4cf31',
    since: '2026-11-29',
  },
  'reference/passkeys': {
    sha256: '82e038e87b59b3631a11cf4628509fd7f425440e700fb9b29f9b435ab1608a4c',
    since: '2026-11-26',
  },
  'reference/identityProviders': {
    sha256: 'aeb327d833ce7591967face47448989a3ee9b32fbb68414971f8db0b910109a0',
    since: '2026-11-26',
  },
  'reference/orgs': {
    sha256: '35204127726b7107d199756d825559e6660d4bdd6f5626427a03b6886e9f6a65',
    since: '2026-11-29',
  },
  'reference/members': {
    sha256: '006179e3fcc80f246e9c90e24545500619ac9dbfc928bb2c9af2a985ed1df369',
    since: '2026-11-29',
  },
  'reference/invitations': {
    sha256: 'cb351ad1581109f3ab3343883bcfe90f9f2970b4bd234627ab654838fda9ae83',
    since: '2026-11-26',
  },
  'reference/policy': {
    sha256: '12bd62e79f1a3713b90d0393b4b94fa0e3692f3ecc96a5bf637ab7fd05bb4d9a',
    since: '2026-11-29',
  },
  'reference/teams': {
    sha256: '09f4d3296757f151663c3eb9d4ae3af9c0a2d04d6097027bfd3aacf181a1a4b8',
    since: '2026-11-26',
  },
  'reference/teams.members': {
    sha256: 'c5ad32088ece2a74dc3613d7bbcc1e50be5b32d91f4936939449c8bdb6b43617',
    since: '2026-11-29',
  },
  'reference/teams.projects': {
    sha256: '246f79bf9efdd17985a7d74bc2a6544b75485e96dbbf058bb66bea0770a2728a',
    since: '2026-11-26',
  },
  'reference/devices': {
    sha256: '241420b0dab0147d34faa9fae37002677b3ee0c155818c955609ed375b946451',
    since: '2026-11-26',
  },
  'reference/projects': {
    sha256: 'd61d03415f1f61658b6ba5d100b7015132f0ab3010bb7020f943d9946e278047',
    since: '2026-11-29',
  },
  'reference/projects.members': {
    sha256: 'acf576ce34c466c71f62fb9a58f64132a6a441668b6c8dffee5a5fb62772ef24',
    since: '2026-11-29',
  },
  'reference/projects.teams': {
    sha256: '48eadd6b7e4579f475c8ea345dec25d3b50bb5d413ff84107dcbf3348f5dbd33',
    since: '2026-11-23',
  },
  'reference/projects.accessRequests': {
    sha256: 'af919a2a5c3d4703fd04085c978dc7f80e7f1342bd4380fa644cbbb088fae8f3',
    since: '2026-11-26',
  },
  'reference/boardColumns': {
    sha256: '2f6d465127c352a1bcd4bf4c83df81493eac4ff72e92f77aaf67bf8b8dd9b4ee',
    since: '2026-11-29',
  },
  'reference/epics': {
    sha256: 'fb3f3e7d23817f3c70531c0c03a0895cc01efab922c886e342951015683e0728',
    since: '2026-11-26',
  },
  'reference/stories': {
    sha256: 'b2a126e88fc15e4049c94673ad9df8ffe2fa03710a253f0a81bd4808a48073e0',
    since: '2026-11-29',
  },
  'reference/storySpec': {
    sha256: 'b4efd7cf02b1af055e7b5a0b627f702d645e1a57c6666d2bb251535152cfc5a0',
    since: '2026-11-29',
  },
  'reference/storyCollaboration': {
    sha256: '1167a41e02c8a312ca7807a148dec655e3f2aa2b815d7c0d5b701263e7bf6a3c',
    since: '2026-11-29',
  },
  'reference/comments': {
    sha256: 'ed4323896730596d72fa50af0ce874188661d551a5478785f074b54f01f55986',
    since: '2026-11-29',
  },
  'reference/assignments': {
    sha256: 'b7bff9622b84cd192b75659dcb0ca6e0d4a6bbfabd4667e56de54f1724642727',
    since: '2026-11-29',
  },
  'reference/reviewers': {
    sha256: '294c559db785f75b8468e365daf32cf4b0455c2602200b4463245ff4f30216ac',
    since: '2026-11-29',
  },
  'reference/prompts.org': {
    sha256: '6867fad42b86d384d53235aead5758d2b13ac57f4f301d471864475c6e58ee04',
    since: '2026-11-26',
  },
  'reference/prompts.project': {
    sha256: '36a74552962b92850f29c672becd5ea5f7d19ca62ae855db1abee75d00a0f238',
    since: '2026-11-26',
  },
  'reference/contracts': {
    sha256: '9d6d5c65ef8db4b90af511218944b5a4d20bda485ea16089cea0e77b31528a14',
    since: '2026-11-29',
  },
  'reference/search': {
    sha256: 'cb83f41c361af7713a32a35575fcc67aff39e123e2d8d631550b7ca7a171a9ef',
    since: '2026-11-29',
  },
  'reference/imports': {
    sha256: 'a9aa6d2408fa3e49a1daa6ca0736ddcf3c289d67dee0b14151709c3c2fd19ac5',
    since: '2026-11-29',
  },
  'reference/activity': {
    sha256: 'a42db8aa95923aa7ef4bac874471110289f4ead43288b9fabad4c7dd2b1adc95',
    since: '2026-11-29',
  },
  'reference/events': {
    sha256: '70a394f6546ea252343ae9dc8e0e40b2349d720daec6104c1a32c52a3565c258',
    since: '2026-11-29',
  },
  'reference/forges': {
    sha256: '304993d55b28fd2bc09eecf45156b4429f036277e029aa989da3b3aa9204ce84',
    since: '2026-11-29',
  },
  'reference/forges.repositories': {
    sha256: '262ceb907f176ef32d1450dd2132b0f40a924ad524221ff3b42aa84f92029b93',
    since: '2026-11-29',
  },
  'reference/forges.deliveries': {
    sha256: '942bd22a0fd39da6576f8e4cfcdb1425f4c43f40f69d9857a41d5f36db993f34',
    since: '2026-11-26',
  },
  'reference/audit': {
    sha256: '08a5c060c6ae42316ec47b4ee28efe93ec418057fe23b54fd70334c43ccba224',
    since: '2026-11-29',
  },
  'reference/broadcasts': {
    sha256: '0221c94e6fa8e833eb7d16efdb7fea5fff942baac2e9925a953b5c5be3a5a779',
    since: '2026-11-26',
  },
  'reference/notifications': {
    sha256: '450c738479001b6344e2d4f32588445652f3bc66bae59c0a2896752a95568857',
    since: '2026-11-29',
  },
  'reference/webhooks': {
    sha256: '7646adb965ae617ea52ea02c7ad2e639f20afa6ef5713060d74d4821e1a870d2',
    since: '2026-11-29',
  },
  'reference/webhooks.deliveries': {
    sha256: '1cf88ce1b8617f22f5677acfc525dbe9d4f370d35d3d49ec24f4d458b9ee63e6',
    since: '2026-11-26',
  },
  'reference/gamification': {
    sha256: '0eeb52b0da4b382ac2c1dbc249289ba2db193eac4ae1a963d8f2c986be3885e3',
    since: '2026-11-29',
  },
  'reference/billing': {
    sha256: '674fa257d816899bd35f4a640871f74d30c7338e7479444e29ac50366b61089b',
    since: '2026-11-26',
  },
  'reference/admin.platform': {
    sha256: '1cb58d48191c660db7606d42fb6cf0d18742515b4702000e2e2d6f5e835851aa',
    since: '2026-11-29',
  },
  'reference/records': {
    sha256: '5f9ba098f48ecf4160d62d6b445de6062c7a665b86b64e1ce7b55d70c13f2a4e',
    since: '2026-11-29',
  },
  'reference/errors': {
    sha256: '7a58a5ad93dca53adc5f3889de0ce6ce35f270bb9967de74e52c260c580c3db4',
    since: '2026-11-29',
  },
  'reference/event-kinds': {
    sha256: '231066deca5dd46b594f2808260dd2c5792797b84e904da1b4aef1036a521e20',
    since: '2026-11-29',
  },
};
