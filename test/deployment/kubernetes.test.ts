import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Container, PodSpec, Probe } from 'kubernetes-types/core/v1.d.ts';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { SECRET_VARIABLES } from '#config/secret-files.ts';
import {
  GLOBAL_IPV6,
  LOCAL_IPV4,
  type Network,
  SPECIAL_IPV4,
  SPECIAL_IPV6,
} from '#outbound/address-guard.ts';
import { factsOf } from '#surfaces/docs/facts.ts';
import { serveMonitoring } from '#telemetry/monitoring-server.ts';
import {
  FOLDER,
  findKubectl,
  KUBECTL_MISSING,
  type Manifests,
  render,
  TYPES,
} from './kubernetes.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const DOCKERFILE = read('Dockerfile');
const GUIDE = read('src/surfaces/docs/guides/operating/kubernetes.md');
/** Path of CloudNativePG's own certificate, with which pods verify the database. */
const AUTHORITY = '/run/secrets/database-ca/ca.crt';
const OVERLAYS = readdirSync(FOLDER).filter(name => name !== 'base');

const kubectl = findKubectl();

describe.skipIf(kubectl === undefined)(kubectl ? 'Kubernetes' : KUBECTL_MISSING, () => {
  const rendered = new Map<string, Manifests>();
  let directory: string;
  const of = (overlay: string) => rendered.get(overlay) as Manifests;

  beforeAll(() => {
    for (const overlay of OVERLAYS) rendered.set(overlay, render(kubectl ?? '', overlay));
    directory = mkdtempSync(join(tmpdir(), 'eps-kubernetes-'));
    const [, commands = ''] = /```sh\n(mkdir .*?)```/s.exec(GUIDE) ?? [];
    execFileSync('sh', ['-ec', commands], { cwd: directory });
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  /** The only container of a pod. */
  function containerOf({ containers }: PodSpec): Container {
    expect(containers).toHaveLength(1);
    return containers[0] as Container;
  }

  /** The environment variables of a pod's process, besides those of the image. */
  function environmentOf(manifests: Manifests, pod: PodSpec): Record<string, string> {
    const { env = [], envFrom = [] } = containerOf(pod);
    const maps = envFrom.map(
      ({ configMapRef }) => manifests.one('ConfigMap', configMapRef?.name ?? '').data,
    );
    return Object.assign(
      {},
      ...maps,
      Object.fromEntries(env.map(({ name, value }) => [name, value])),
    );
  }

  /** The file that a pod sees at a path, among those that the guide turns into secrets. */
  function secretFile(pod: PodSpec, path: string): string {
    const mount = containerOf(pod).volumeMounts?.find(each =>
      path.startsWith(`${each.mountPath}/`),
    );
    const volume = pod.volumes?.find(({ name }) => name === mount?.name);
    const secret = volume?.secret?.secretName ?? '';
    const [, folder = 'missing'] =
      new RegExp(`create secret generic ${secret} --from-file=(\\w+)`).exec(GUIDE) ?? [];
    return join(directory, folder, path.slice((mount?.mountPath ?? '').length + 1));
  }

  test('the manifests match the types of the API', () => {
    const lines = Object.entries(TYPES).map(
      ([kind, module]) =>
        `import type { ${kind} } from '${ROOT}/node_modules/kubernetes-types/${module}.d.ts';`,
    );
    for (const { all } of rendered.values()) {
      for (const manifest of all) {
        if (manifest.kind === 'Cluster') continue;
        lines.push(
          `export const _${lines.length}: ${manifest.kind} = ${JSON.stringify(manifest)};`,
        );
      }
    }
    const count = lines.length;
    lines.push(
      '// @ts-expect-error a field that there is not, so that the check is known to find one',
      "export const unknown: Job = { spec: { template: { spec: { containers: [], image: '' } } } };",
    );
    const file = join(directory, 'manifests.ts');
    writeFileSync(file, lines.join('\n'));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig'];
    const more = ['--allowImportingTsExtensions', '--types', '', '--module', 'nodenext'];
    expect(count).toBeGreaterThan(20);
    execFileSync(tsc, [...options, ...more, file], { encoding: 'utf8' });
  });

  describe.each(OVERLAYS)('%s', overlay => {
    test('each process gets a configuration that is valid in production, from files of the guide', () => {
      const manifests = of(overlay);
      const known = new Set<string>();
      for (const [name, , pod] of manifests.pods()) {
        const env = { NODE_ENV: 'production', ...environmentOf(manifests, pod) };
        const config = readConfig(
          new Proxy(env, {
            get(target, variable) {
              known.add(String(variable));
              return target[variable as keyof typeof target];
            },
          }),
          path => {
            // The database creates this one itself; the guide's URLs name it.
            if (path === AUTHORITY) return '';
            return readFileSync(secretFile(pod, path), 'utf8');
          },
        );
        expect(Object.keys(env).filter(variable => !known.has(variable))).toEqual([]);
        const secrets = SECRET_VARIABLES.filter(secret => Object.hasOwn(env, `${secret}_FILE`));
        const left = name === 'eps-migrate' ? [] : ['MIGRATION_DATABASE_URL'];
        expect([...secrets, ...left].toSorted()).toEqual(SECRET_VARIABLES.toSorted());
        expect(config.databaseUrl).toMatch(/^postgres:\/\/eps_service:\w{48}@/);
        if (name === 'eps-migrate')
          expect(config.migrationUrl).toMatch(/^postgres:\/\/eps:\w{48}@/);
        else expect(config.migrationUrl).toBeNull();
        const mounts = containerOf(pod).volumeMounts?.map(({ mountPath }) => mountPath);
        const mounted = overlay === 'cloudnative-pg';
        expect(mounts?.includes(dirname(AUTHORITY))).toBe(mounted);
        expect(config.databaseDurability).toBe(
          overlay === 'cloudnative-pg' ? 'replicated' : 'server',
        );
      }
    });

    test('pods run as the user of the image, without further privileges', () => {
      const user = /^USER (\d+):(\d+)$/m.exec(DOCKERFILE)?.slice(1).map(Number) ?? [];
      const manifests = of(overlay);
      expect(manifests.one('Namespace', 'external-payments').metadata?.labels).toEqual({
        'pod-security.kubernetes.io/enforce': 'restricted',
      });
      expect(manifests.pods()).toHaveLength(3);
      for (const [, , pod] of manifests.pods()) {
        expect(pod.securityContext).toEqual({
          runAsNonRoot: true,
          runAsUser: user[0],
          runAsGroup: user[1],
          fsGroup: user[1],
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(containerOf(pod).securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(pod).toMatchObject({
          automountServiceAccountToken: false,
          enableServiceLinks: false,
        });
        expect(pod.volumes?.filter(({ secret }) => secret === undefined)).toEqual([]);
      }
    });

    test('each pod starts a program of the image', () => {
      const commands = of(overlay)
        .pods()
        .map(([name, , pod]) => [name, containerOf(pod).command]);
      expect(Object.fromEntries(commands)).toEqual({
        'eps-api': undefined,
        'eps-worker': ['node', 'src/worker.ts'],
        'eps-migrate': ['mp', 'migrate'],
      });
      expect(existsSync(join(ROOT, 'src/worker.ts'))).toBe(true);
      expect(DOCKERFILE).toContain('CMD ["node", "src/server.ts"]');
      expect(DOCKERFILE).toContain('/usr/local/bin/mp');
    });

    test('probes request served paths, at their port', async () => {
      const manifests = of(overlay);
      const served = await serveMonitoring(
        { registry: new Registry(), readiness: async () => ({ ready: true, body: {} }) },
        { host: '127.0.0.1', port: 0 },
      );
      try {
        for (const [name, , pod] of manifests.pods()) {
          if (name === 'eps-migrate') continue;
          const container = containerOf(pod);
          const ports = new Map(container.ports?.map(each => [each.name, each.containerPort]));
          const { METRICS_PORT } = environmentOf(manifests, pod);
          const probes = {
            startupProbe: '/healthz',
            livenessProbe: '/healthz',
            readinessProbe: '/readyz',
          } as const;
          for (const [kind, expected] of Object.entries(probes)) {
            const { path, port } = (container[kind as keyof typeof probes] as Probe).httpGet ?? {};
            expect(path).toBe(expected);
            expect(ports.get(String(port))).toBe(Number(METRICS_PORT));
            const { status } = await fetch(`http://127.0.0.1:${served.port}${path}`);
            expect(status).toBe(200);
          }
          if (name === 'eps-api') expect(DOCKERFILE).toContain(`PORT=${ports.get('http')} `);
          expect(container.lifecycle).toBeUndefined();
        }
      } finally {
        await served.close();
      }
    });

    test('selectors match the intended pods, and no others', () => {
      const manifests = of(overlay);
      const found = (selector: Record<string, string> = {}) =>
        manifests
          .pods()
          .filter(([, labels]) =>
            Object.entries(selector).every(([label, value]) => labels[label] === value),
          )
          .map(([name]) => name);
      for (const kind of ['Deployment', 'PodDisruptionBudget'] as const) {
        for (const { metadata, spec } of manifests.of(kind)) {
          expect(found(spec?.selector?.matchLabels)).toEqual([metadata?.name]);
        }
      }
      expect(found(manifests.one('Service', 'eps-api').spec?.selector)).toEqual(['eps-api']);
      for (const { metadata, spec } of manifests.of('Deployment')) {
        expect(spec?.strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
        const terms =
          spec?.template.spec?.affinity?.podAntiAffinity
            ?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
        expect(terms[0]?.podAffinityTerm.topologyKey).toBe('topology.kubernetes.io/zone');
        for (const { podAffinityTerm } of terms) {
          expect(found(podAffinityTerm.labelSelector?.matchLabels)).toEqual([metadata?.name]);
        }
      }
      const { scaleTargetRef } = manifests.one('HorizontalPodAutoscaler', 'eps-api').spec ?? {};
      expect(scaleTargetRef).toEqual({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: 'eps-api',
      });
      expect(manifests.one('Deployment', 'eps-api').spec?.replicas).toBeUndefined();
      const policed = manifests
        .of('NetworkPolicy')
        .filter(({ metadata }) => metadata?.name === 'eps-refuse')
        .map(({ spec }) => found(spec?.podSelector.matchLabels));
      expect(policed).toEqual([['eps-api', 'eps-worker', 'eps-migrate']]);
    });

    test('public egress covers exactly the addresses that webhooks may have', () => {
      const manifests = of(overlay);
      const text = (networks: readonly Network[]) => networks.map(network => network.join('/'));
      const policy = manifests.one('NetworkPolicy', 'eps-to-public');
      expect(policy.spec?.egress).toEqual([
        {
          to: [
            {
              ipBlock: { cidr: '0.0.0.0/0', except: text([...LOCAL_IPV4, ...SPECIAL_IPV4]) },
            },
            ...text(GLOBAL_IPV6).map(cidr => ({ ipBlock: { cidr, except: text(SPECIAL_IPV6) } })),
          ],
          ports: [443, 465, 587].map(port => ({ port, protocol: 'TCP' })),
        },
      ]);
      const others = manifests
        .of('NetworkPolicy')
        .filter(({ metadata }) => metadata?.name !== 'eps-to-public');
      for (const { metadata, spec } of others) {
        for (const { to, ports } of spec?.egress ?? []) {
          // An empty list would mean everybody, and every port.
          expect(to?.length, metadata?.name).toBeGreaterThan(0);
          expect(ports?.length, metadata?.name).toBeGreaterThan(0);
          for (const { ipBlock } of to ?? []) expect(ipBlock?.cidr ?? '/32').toMatch(/\/32$/);
        }
      }
    });
  });

  describe('cloudnative-pg', () => {
    const cluster = () => of('cloudnative-pg').one('Cluster', 'eps-database');

    test('commits wait for another machine', () => {
      const { instances, minSyncReplicas, postgresql, affinity } = cluster().spec;
      expect(instances).toBe(3);
      expect(minSyncReplicas).toBeUndefined();
      expect(postgresql.synchronous).toEqual({
        method: 'any',
        number: 1,
        dataDurability: 'required',
        failoverQuorum: true,
      });
      expect(affinity).toEqual({
        podAntiAffinityType: 'required',
        topologyKey: 'kubernetes.io/hostname',
      });
    });

    test('its roles and database are those of the URLs, with the passwords of the guide', () => {
      const { managed, bootstrap } = cluster().spec;
      const [role] = managed.roles;
      expect(role).toMatchObject({ name: 'eps_service', inRoles: ['pg_read_all_stats'] });
      const accounts = [
        ['secrets/database_url', role?.name, role?.passwordSecret.name, '$service'],
        [
          'owner/migration_database_url',
          bootstrap.initdb.owner,
          bootstrap.initdb.secret.name,
          '$owner',
        ],
      ] as const;
      for (const [file, user, secret, password] of accounts) {
        const url = new URL(readFileSync(join(directory, file), 'utf8').trim());
        expect(url.username).toBe(user);
        expect(url.hostname).toBe(`${cluster().metadata.name}-rw`);
        expect(url.pathname).toBe(`/${bootstrap.initdb.database}`);
        expect(GUIDE).toContain(
          `${secret} --type=kubernetes.io/basic-auth --from-literal=username=${user} --from-literal=password="${password}"`,
        );
        const authority = url.searchParams.get('sslrootcert') ?? '';
        for (const [, , pod] of of('cloudnative-pg').pods()) {
          const mount = containerOf(pod).volumeMounts?.find(({ name }) => name === 'database-ca');
          const volume = pod.volumes?.find(({ name }) => name === 'database-ca');
          expect(`${mount?.mountPath}/${volume?.secret?.items?.[0]?.path}`).toBe(authority);
          expect(volume?.secret?.secretName).toBe(`${cluster().metadata.name}-ca`);
        }
      }
    });

    test('its instances can reach each other, including the port of their probes', () => {
      const name = cluster().metadata.name;
      const { podSelector, ingress = [] } =
        of('cloudnative-pg').one('NetworkPolicy', name).spec ?? {};
      const matchLabels = { 'cnpg.io/cluster': name };
      expect(podSelector).toEqual({ matchLabels });
      const ports = ingress
        .filter(({ from }) => from?.some(peer => isDeepStrictEqual(peer, { podSelector })))
        .flatMap(rule => rule.ports?.map(({ port }) => port));
      expect(ports).toEqual([5432, 8000]);
    });

    test('it admits the connections of all processes, including a rollout', () => {
      const manifests = of('cloudnative-pg');
      const facts = factsOf({
        ...readConfig({}),
        client: undefined,
      });
      const { maxReplicas = 0 } = manifests.one('HorizontalPodAutoscaler', 'eps-api').spec ?? {};
      const { replicas: workers = 0 } = manifests.one('Deployment', 'eps-worker').spec ?? {};
      // One more for each because of the durability, and one for a worker's metrics.
      const needed =
        (maxReplicas + 1) * (Number(facts['connections.replica']) + 1) +
        (workers + 1) * (Number(facts['connections.worker']) + 2);
      // For migrations, commands, and those of PostgreSQL and the operator.
      const others = 20;
      const { max_connections } = cluster().spec.postgresql.parameters;
      expect(Number(max_connections)).toBeGreaterThanOrEqual(needed + others);
    });
  });
});
