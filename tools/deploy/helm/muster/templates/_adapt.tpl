{{/* Applies the values to one manifest: (dict "root" $ "manifest" …). Prints nothing if a value turns it off. */}}
{{- define "muster.adapt" -}}
{{- $root := .root }}
{{- $values := $root.Values }}
{{- $manifest := .manifest }}
{{- $name := $manifest.metadata.name }}
{{- $service := dig $name (dict) ($values.services | default dict) | default dict }}
{{- $isOff := or (and (eq $manifest.kind "Job") (not $values.migrations.enabled)) (and (eq $manifest.kind "Ingress") (not $values.ingress.enabled)) (and (eq $manifest.kind "NetworkPolicy") (not $values.networkPolicies.enabled)) }}
{{- if not $isOff }}
{{- $labels := dict "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version) "app.kubernetes.io/managed-by" $root.Release.Service "app.kubernetes.io/instance" $root.Release.Name }}
{{- $_ := set $manifest.metadata "labels" (merge $labels ($manifest.metadata.labels | default dict)) }}
{{- if eq $manifest.kind "ConfigMap" }}
{{- if hasKey $manifest.data "TRUST_PROXY" }}{{ $_ := set $manifest.data "TRUST_PROXY" $values.trustProxy }}{{ end }}
{{- $_ := set $manifest "data" (merge (deepCopy ($service.env | default dict)) $manifest.data) }}
{{- else if eq $manifest.kind "Deployment" }}
{{- if and $service.replicas (hasKey $manifest.spec "replicas") }}{{ $_ := set $manifest.spec "replicas" $service.replicas }}{{ end }}
{{- if and $values.queueDepth.enabled (eq $name "delivery-worker") }}{{ $_ := unset $manifest.spec "replicas" }}{{ end }}
{{- /* A change of the variables restarts the pods. */}}
{{- $annotations := merge (dict "checksum/env" (list $service.env $values.hosts $values.trustProxy | toJson | sha256sum)) ($manifest.spec.template.metadata.annotations | default dict) }}
{{- $_ := set $manifest.spec.template.metadata "annotations" $annotations }}
{{- include "muster.adaptPod" (dict "root" $root "service" $service "spec" $manifest.spec.template.spec) }}
{{- else if eq $manifest.kind "Job" }}
{{- $_ := set $manifest.metadata "annotations" (dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-delete-policy" "before-hook-creation") }}
{{- include "muster.adaptPod" (dict "root" $root "service" $service "spec" $manifest.spec.template.spec) }}
{{- else if eq $manifest.kind "CronJob" }}
{{- include "muster.adaptPod" (dict "root" $root "service" $service "spec" $manifest.spec.jobTemplate.spec.template.spec) }}
{{- else if eq $manifest.kind "HorizontalPodAutoscaler" }}
{{- if $service.replicas }}{{ $_ := set $manifest.spec "minReplicas" $service.replicas }}{{ end }}
{{- if $service.maxReplicas }}{{ $_ := set $manifest.spec "maxReplicas" $service.maxReplicas }}{{ end }}
{{- else if eq $manifest.kind "ScaledObject" }}
{{- if $service.replicas }}{{ $_ := set $manifest.spec "minReplicaCount" $service.replicas }}{{ end }}
{{- if $service.maxReplicas }}{{ $_ := set $manifest.spec "maxReplicaCount" $service.maxReplicas }}{{ end }}
{{- $_ := set (index $manifest.spec.triggers 0).metadata "serverAddress" $values.queueDepth.prometheus }}
{{- else if eq $manifest.kind "Ingress" }}
{{- $_ := set $manifest.metadata "annotations" (merge (deepCopy $values.ingress.annotations) $manifest.metadata.annotations) }}
{{- if $values.ingress.className }}{{ $_ := set $manifest.spec "ingressClassName" $values.ingress.className }}{{ end }}
{{- if $values.ingress.tlsSecret }}
{{- $tls := dict "secretName" $values.ingress.tlsSecret "hosts" (list $values.hosts.muster $values.hosts.docs $values.hosts.licenses) }}
{{- $_ := set $manifest.spec "tls" (list $tls) }}
{{- end }}
{{- end }}
---
{{ toYaml $manifest }}
{{ end }}
{{- end }}

{{/* Applies the values to the spec of a pod. */}}
{{- define "muster.adaptPod" -}}
{{- $image := .root.Values.image }}
{{- $service := .service }}
{{- range .spec.containers }}
{{- $_ := set . "image" (printf "%s/%s:%s" $image.registry (trimPrefix "muster/" .image) ($image.tag | default $.root.Chart.AppVersion)) }}
{{- $_ := set . "imagePullPolicy" $image.pullPolicy }}
{{- if $service.resources }}{{ $_ := set . "resources" $service.resources }}{{ end }}
{{- range .envFrom }}
{{- if and .secretRef $service.secret }}{{ $_ := set .secretRef "name" $service.secret }}{{ end }}
{{- end }}
{{- end }}
{{- if $image.pullSecrets }}
{{- $secrets := list }}
{{- range $image.pullSecrets }}{{ $secrets = append $secrets (dict "name" .) }}{{ end }}
{{- $_ := set .spec "imagePullSecrets" $secrets }}
{{- end }}
{{- range $field, $value := .root.Values.pod }}
{{- if $value }}{{ $_ := set $.spec $field $value }}{{ end }}
{{- end }}
{{- end }}
