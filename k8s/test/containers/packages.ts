import { access, mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Apt } from '#local/servers/apt.js';
import { progressOn } from '#local/servers/progress.js';
import { Workspace } from '#local/servers/workspace.js';

const ENGINE = ['docker.io', 'containerd', 'runc', 'iptables', 'debootstrap'];
const ENGINE_LIBRARIES = [
  ['libip4tc2', 'libip6tc2', 'libxtables12', 'libnetfilter-conntrack3', 'libnfnetlink0', 'libnftnl11'],
  ['libmnl0'],
].flat();
const COMPOSE = ['docker-compose', 'python3-cached-property', 'python3-docker', 'python3-dockerpty'];
const COMPOSE_LIBRARIES = [
  ['python3-docopt', 'python3-dotenv', 'python3-jsonschema', 'python3-requests', 'python3-texttable'],
  ['python3-websocket', 'python3-attr', 'python3-pyrsistent', 'python3-certifi', 'python3-idna'],
  ['python3-charset-normalizer', 'python3-urllib3', 'python3-chardet', 'python3-yaml', 'python3-distro'],
  ['python3-six', 'python3-pkg-resources'],
].flat();

/** Unpacks Debian's engine and compose into the folder, without changing the machine. */
export async function unpackedDocker(folder: string): Promise<string> {
  const tree = join(folder, 'docker');
  if (
    await access(tree).then(
      () => true,
      () => false,
    )
  )
    return tree;
  const workspace = new Workspace(process.env);
  try {
    const draft = await workspace.folder(folder);
    const files = join(draft, 'files');
    await mkdir(files);
    const names = [...ENGINE, ...ENGINE_LIBRARIES, ...COMPOSE, ...COMPOSE_LIBRARIES];
    const apt = new Apt(workspace, draft, process.env, progressOn(process.stderr));
    await apt.newest(['docker\\.io']);
    await apt.download(names, files);
    await apt.unpack(files, names, join(draft, 'tree'));
    // Only an installation creates Debian's "alternatives" links.
    for (const name of ['iptables', 'ip6tables'])
      await symlink('xtables-nft-multi', join(draft, 'tree/usr/sbin', name));
    await rename(join(draft, 'tree'), tree);
    return tree;
  } finally {
    await workspace.remove();
  }
}
