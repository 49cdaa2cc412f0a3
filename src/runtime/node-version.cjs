// JavaScript that every Node can parse: one that is too old for TypeScript ends here, with a message.
var needed = require('../../package.json').engines.node.replace(/\D/g, '');

if (parseInt(process.versions.node, 10) < Number(needed)) {
  process.stderr.write(
    'Node.js ' +
      needed +
      ' or newer is needed, and this is ' +
      process.version +
      ': "npm ci --include=optional" brings it on Linux (x64 and arm64); elsewhere put it on the PATH.\n',
  );
  process.exit(1);
}
