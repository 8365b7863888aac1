{{- define "reminder-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 40 characters, so that the longest suffix of a role still fits. */}}
{{- define "reminder-operator.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "reminder-operator.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "reminder-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "reminder-operator.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "reminder-operator.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}

{{- define "reminder-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "reminder-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end -}}

{{- define "reminder-operator.labels" -}}
{{ include "reminder-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/*
One object of files/rbac, renamed for this release. Takes (list root object).
The files are copies of config/rbac; there the same is done by kustomize.
*/}}
{{- define "reminder-operator.rbacObject" -}}
{{- $root := index . 0 -}}
{{- $object := index . 1 -}}
{{- $prefix := include "reminder-operator.fullname" $root -}}
{{- $labels := merge (default dict (get $object.metadata "labels")) (include "reminder-operator.labels" $root | fromYaml) -}}
{{- $_ := set $object.metadata "labels" $labels -}}
{{- $_ := set $object.metadata "name" (printf "%s-%s" $prefix $object.metadata.name) -}}
{{- if hasKey $object.metadata "namespace" -}}
{{- $_ := set $object.metadata "namespace" $root.Release.Namespace -}}
{{- end -}}
{{- if hasKey $object "roleRef" -}}
{{- $_ := set $object.roleRef "name" (printf "%s-%s" $prefix $object.roleRef.name) -}}
{{- range $object.subjects -}}
{{- $_ := set . "name" (include "reminder-operator.serviceAccountName" $root) -}}
{{- $_ := set . "namespace" $root.Release.Namespace -}}
{{- end -}}
{{- end -}}
{{- toYaml $object -}}
{{- end -}}
