package cluster

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// volumes keeps the volumes of one pod in folders below dir.
type volumes struct {
	dir       string
	namespace string
	reader    client.Reader
	written   map[string]map[string][]byte // files by volume, as they are on disk
}

// mount brings all volumes up to date and returns the folder of each mountPath.
func (v *volumes) mount(ctx context.Context, specs []corev1.Volume, mounts []corev1.VolumeMount) (map[string]string, error) {
	for i := range specs {
		if err := v.update(ctx, &specs[i]); err != nil {
			return nil, fmt.Errorf("mount volume %s: %w", specs[i].Name, err)
		}
	}
	folders := map[string]string{}
	for _, m := range mounts {
		folders[strings.TrimSuffix(m.MountPath, "/")] = filepath.Join(v.dir, m.Name, m.SubPath)
	}
	return folders, nil
}

// update brings one volume up to date.
func (v *volumes) update(ctx context.Context, spec *corev1.Volume) error {
	dir := filepath.Join(v.dir, spec.Name)
	switch {
	case spec.EmptyDir != nil:
		return os.MkdirAll(dir, 0o755)
	case spec.Secret != nil:
		files, err := v.secretFiles(ctx, spec.Secret)
		if err != nil {
			return err
		}
		if old, ok := v.written[spec.Name]; ok && maps.EqualFunc(old, files, bytes.Equal) {
			return nil
		}
		if err := writeVolume(dir, files, v.written[spec.Name]); err != nil {
			return err
		}
		if v.written == nil {
			v.written = map[string]map[string][]byte{}
		}
		v.written[spec.Name] = files
		return nil
	default:
		return fmt.Errorf("only Secrets and emptyDir can be mounted here")
	}
}

// secretFiles are the files of a Secret's volume.
func (v *volumes) secretFiles(ctx context.Context, spec *corev1.SecretVolumeSource) (map[string][]byte, error) {
	var secret corev1.Secret
	err := v.reader.Get(ctx, client.ObjectKey{Namespace: v.namespace, Name: spec.SecretName}, &secret)
	optional := spec.Optional != nil && *spec.Optional
	if apierrors.IsNotFound(err) && optional {
		return map[string][]byte{}, nil
	}
	if err != nil {
		return nil, err
	}
	if len(spec.Items) == 0 {
		return maps.Clone(secret.Data), nil
	}
	files := map[string][]byte{}
	for _, item := range spec.Items {
		data, ok := secret.Data[item.Key]
		if !ok && !optional {
			return nil, fmt.Errorf("find key %s of Secret %s: there is none", item.Key, spec.SecretName)
		}
		if ok {
			files[item.Path] = data
		}
	}
	return files, nil
}

// writeVolume replaces the files of a volume in one step, the way a kubelet
// does: each file is a link through ..data, and ..data is replaced by a rename.
func writeVolume(dir string, files, old map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	data, next := filepath.Join(dir, "..data"), filepath.Join(dir, "..data_tmp")
	previous, _ := os.Readlink(data) // there is none at first
	version, err := os.MkdirTemp(dir, "..version-")
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := writeFile(filepath.Join(version, name), content); err != nil {
			return err
		}
	}
	_ = os.Remove(next) // of an update that failed half-way
	if err := os.Symlink(filepath.Base(version), next); err != nil {
		return err
	}
	if err := os.Rename(next, data); err != nil {
		return err
	}
	if previous != "" {
		defer os.RemoveAll(filepath.Join(dir, previous))
	}
	return linkFiles(dir, files, old)
}

// writeFile writes a file, in folders that an item's path may name.
func writeFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o600)
}

// linkFiles makes the links of new files and removes those of old ones.
func linkFiles(dir string, files, old map[string][]byte) error {
	wanted := firstElements(files)
	for name := range firstElements(old) {
		if !wanted[name] {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	have := firstElements(old)
	for name := range wanted {
		if !have[name] {
			if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstElements are the names at the top of a volume.
func firstElements(files map[string][]byte) map[string]bool {
	names := map[string]bool{}
	for path := range files {
		first, _, _ := strings.Cut(path, "/")
		names[first] = true
	}
	return names
}
