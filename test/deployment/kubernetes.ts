import { execFileSync, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.d.ts';
import type { Job } from 'kubernetes-types/batch/v1.d.ts';
import type { ConfigMap, Namespace, PodSpec, Service } from 'kubernetes-types/core/v1.d.ts';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import { parseAllDocuments } from 'yaml';

export const FOLDER = resolve(import.meta.dirname, '../../deploy/kubernetes');

/** The first with kustomize 5; Debian 12 has 1.20. */
const MINOR_MINIMUM = 27;

/** Why tests that need kubectl are skipped, for their names. */
export const KUBECTL_MISSING = `needs kubectl 1.${MINOR_MINIMUM} or newer: export KUBECTL=$(.ci/install-program trixie kubernetes-client kubectl /tmp/kubectl)`;

/** The path of a kubectl that is new enough, if there is one. */
export function findKubectl(): string | undefined {
  const program = process.env.KUBECTL || 'kubectl';
  const { stdout } = spawnSync(program, ['version', '--client'], { encoding: 'utf8' });
  const [, minor] = /Client Version: v1\.(\d+)/.exec(stdout ?? '') ?? [];
  return Number(minor) >= MINOR_MINIMUM ? program : undefined;
}

/** CloudNativePG's cluster, as far as tests need it. */
interface DatabaseCluster {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly instances: number;
    readonly minSyncReplicas?: number;
    readonly bootstrap: {
      readonly initdb: Readonly<Record<'database' | 'owner', string>> & {
        readonly secret: { readonly name: string };
      };
    };
    readonly managed: {
      readonly roles: readonly {
        readonly name: string;
        readonly inRoles: readonly string[];
        readonly passwordSecret: { readonly name: string };
      }[];
    };
    readonly postgresql: {
      readonly synchronous: unknown;
      readonly parameters: Readonly<Record<string, string>>;
    };
    readonly affinity: Readonly<Record<'podAntiAffinityType' | 'topologyKey', string>>;
  };
}

/** Types of the objects, with their modules in kubernetes-types. */
export const TYPES = {
  ConfigMap: 'core/v1',
  Deployment: 'apps/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  Job: 'batch/v1',
  Namespace: 'core/v1',
  NetworkPolicy: 'networking/v1',
  PodDisruptionBudget: 'policy/v1',
  Service: 'core/v1',
} as const;

interface Kinds {
  Cluster: DatabaseCluster;
  ConfigMap: ConfigMap;
  Deployment: Deployment;
  HorizontalPodAutoscaler: HorizontalPodAutoscaler;
  Job: Job;
  Namespace: Namespace;
  NetworkPolicy: NetworkPolicy;
  PodDisruptionBudget: PodDisruptionBudget;
  Service: Service;
}

export interface Manifests {
  readonly all: readonly { readonly kind: string; readonly apiVersion: string }[];
  of<K extends keyof Kinds>(kind: K): Kinds[K][];
  /** The only object of the kind with this name. */
  one<K extends keyof Kinds>(kind: K, name: string): Kinds[K];
  /** What the pods run, by the name of their workload. */
  pods(): [name: string, labels: Record<string, string>, pod: PodSpec][];
}

/** The manifests that `kubectl apply -k` sends. */
export function render(kubectl: string, overlay: string): Manifests {
  const text = execFileSync(kubectl, ['kustomize', resolve(FOLDER, overlay)], { encoding: 'utf8' });
  const all = parseAllDocuments(text).map(document => document.toJS());
  const of: Manifests['of'] = kind => all.filter(each => each.kind === kind);
  return {
    all,
    of,
    one(kind, name) {
      const found = of(kind).filter(({ metadata }) => metadata?.name === name);
      if (found[0] === undefined || found.length > 1) {
        throw new Error(`${overlay} has ${found.length} of ${kind} ${name}`);
      }
      return found[0];
    },
    pods: () =>
      [...of('Deployment'), ...of('Job')].map(({ metadata, spec }) => [
        metadata?.name ?? '',
        spec?.template.metadata?.labels ?? {},
        spec?.template.spec ?? { containers: [] },
      ]),
  };
}
