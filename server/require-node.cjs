/* Loaded before a TypeScript file: a Node that cannot read those can read this, and says so in one sentence. */
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  const next =
    process.platform === 'linux'
      ? 'run `npm ci && npm start`, which brings it'
      : 'install it (`npm ci` brings it on Linux only)';
  process.stderr.write(`This service needs Node 22.18 or later, and this is ${process.versions.node}: ${next}.\n`);
  process.exit(1);
}
